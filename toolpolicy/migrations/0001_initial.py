import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import toolpolicy.models.fields
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Record',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('uid', models.UUIDField(help_text='The id that callers know, for example the decision_id.')),
                ('kind', models.CharField(choices=[('decision', 'decision'), ('listing', 'listing'), ('simulation', 'simulation'), ('change', 'policy change'), ('publish', 'publication'), ('freeze', 'freeze'), ('key', 'API key'), ('import', 'tool import'), ('refused', 'refused request')], max_length=16)),
                ('at', models.DateTimeField()),
                ('writer_id', models.CharField(help_text='Random; one for each connection to the database.', max_length=32)),
                ('writer_n', models.PositiveBigIntegerField(help_text='Counts the records of that writer from 1 without a gap.')),
                ('leaf_hash', models.CharField(help_text="SHA-256 of a zero byte and the text's bytes, in hex.", max_length=64)),
                ('surface', models.CharField(blank=True, max_length=16)),
                ('outcome', models.CharField(blank=True, max_length=16)),
                ('reason_code', models.CharField(blank=True, max_length=64)),
                ('family', models.CharField(blank=True, max_length=128)),
                ('tool', models.CharField(blank=True, max_length=128)),
                ('agent', models.CharField(blank=True, max_length=200)),
                ('channel', models.CharField(blank=True, max_length=200)),
                ('session', models.CharField(blank=True, max_length=200)),
                ('client_key_id', models.CharField(blank=True, max_length=8)),
                ('layer', models.CharField(blank=True, max_length=200)),
                ('rule', models.CharField(blank=True, max_length=200)),
                ('policy_version', models.PositiveIntegerField(null=True)),
                ('actor_label', models.CharField(blank=True, max_length=200)),
                ('object_label', models.CharField(blank=True, max_length=200)),
                ('request_id', models.CharField(blank=True, max_length=128)),
                ('idempotency_key', models.CharField(blank=True, max_length=200)),
                ('request_digest', models.CharField(blank=True, max_length=71)),
            ],
            options={
                'ordering': ('-id',),
                'default_permissions': ('view',),
            },
        ),
        migrations.CreateModel(
            name='ApiClient',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200)),
                ('key_id', models.CharField(editable=False, max_length=8)),
                ('secret_hash', models.CharField(editable=False, help_text='SHA-256 of the secret, in hex.', max_length=64)),
                ('scopes', toolpolicy.models.fields.ExactJSONField(blank=True, default=list, help_text='What the key may do.')),
                ('pinned_context', toolpolicy.models.fields.ExactJSONField(blank=True, default=dict, help_text='Context values that the key must send and may not change.')),
                ('owner_label', models.CharField(blank=True, max_length=200)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField(blank=True, help_text='Empty: never.', null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(blank=True, help_text='Who answers for it.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'API client',
                'ordering': ('name', 'pk'),
                'default_permissions': ('add', 'change', 'view'),
            },
        ),
        migrations.CreateModel(
            name='Document',
            fields=[
                ('digest', models.CharField(help_text='sha256: and 64 hex digits.', max_length=71, primary_key=True, serialize=False)),
                ('text', models.TextField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'default_permissions': ('view',),
                'constraints': [models.CheckConstraint(condition=models.Q(('digest__startswith', 'sha256:')), name='document_digest_form', violation_error_message='a digest starts with sha256:')],
            },
        ),
        migrations.CreateModel(
            name='Freeze',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('agent', 'agent'), ('channel', 'channel'), ('family', 'tool family'), ('tool', 'tool')], max_length=8)),
                ('value', models.CharField(help_text='The name of what is stopped.', max_length=200)),
                ('reason', models.TextField(help_text='Told to the caller.')),
                ('until', models.DateTimeField(blank=True, help_text='Empty: until it is lifted.', null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('created_by_label', models.CharField(max_length=200)),
                ('lifted_at', models.DateTimeField(blank=True, null=True)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-created_at',),
                'default_permissions': ('add', 'change', 'view'),
            },
        ),
        migrations.CreateModel(
            name='Layer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='Shown in refusals, for example `house rules`.', max_length=200)),
                ('scope', models.CharField(choices=[('config', 'everywhere'), ('agent', 'agents'), ('channel', 'channels'), ('session', 'sessions')], default='config', max_length=16)),
                ('target', toolpolicy.models.fields.ExactJSONField(blank=True, help_text='Patterns over the agent, channel or session; none for the scope config.', null=True)),
                ('combining', models.CharField(choices=[('deny_overrides', 'strict: a deny always wins'), ('last_match', 'ordered: the last matching rule wins')], default='deny_overrides', help_text='Fixed once the layer exists.', max_length=16)),
                ('default', models.CharField(blank=True, choices=[('allow', 'allow'), ('deny', 'deny')], default='allow', help_text='What a strict layer says when no rule decides; empty for an ordered one.', max_length=8)),
                ('position', models.PositiveIntegerField(help_text='Order among the layers of the same scope.', validators=[django.core.validators.MaxValueValidator(999999, 'a position is 0 to 999,999')])),
                ('enabled', models.BooleanField(default=True)),
                ('fail_safe', models.BooleanField(default=True, help_text='Read what cannot be checked in the strict way. Strict layers only.')),
                ('may_waive_approval', models.BooleanField(default=False, help_text='Whether rules here may approve calls automatically.')),
                ('observe', models.BooleanField(default=False, help_text='Report what this layer would change, but do not enforce it.')),
                ('valid_from', models.DateTimeField(blank=True, null=True)),
                ('valid_until', models.DateTimeField(blank=True, help_text='The first moment at which the layer no longer applies.', null=True)),
                ('description', models.TextField(blank=True)),
                ('version', models.PositiveIntegerField(default=1, editable=False, help_text='Counts changes of the layer and its rules.')),
            ],
            options={
                'ordering': ('scope', 'position'),
                'permissions': (('change_baseline', 'Can change the baseline layers'),),
                'constraints': [models.UniqueConstraint(fields=('name',), name='layer_name_unique', violation_error_message='another layer has this name'), models.UniqueConstraint(fields=('scope', 'position'), name='layer_position_unique', violation_error_message='another layer of this scope has this position'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='layer_name_given', violation_error_message='a layer needs a name'), models.CheckConstraint(condition=models.Q(('scope__in', ('config', 'agent', 'channel', 'session'))), name='layer_scope_known', violation_error_message='the scope is config, agent, channel or session'), models.CheckConstraint(condition=models.Q(('combining__in', ('deny_overrides', 'last_match'))), name='layer_combining_known', violation_error_message='the combining is deny_overrides or last_match'), models.CheckConstraint(condition=models.Q(models.Q(('scope', 'config'), ('target__isnull', True)), models.Q(models.Q(('scope', 'config'), _negated=True), ('target__isnull', False)), _connector='OR'), name='layer_target_by_scope', violation_error_message='a config layer has no target; every other layer needs one'), models.CheckConstraint(condition=models.Q(models.Q(('combining', 'last_match'), ('default', '')), models.Q(('combining', 'deny_overrides'), ('default__in', ('allow', 'deny'))), _connector='OR'), name='layer_default_by_combining', violation_error_message='a strict layer defaults to allow or deny; an ordered layer has no default'), models.CheckConstraint(condition=models.Q(('combining', 'last_match'), ('fail_safe', True), _negated=True), name='layer_fail_safe_is_strict', violation_error_message='fail_safe is for strict layers'), models.CheckConstraint(condition=models.Q(('valid_from__isnull', True), ('valid_until__isnull', True), ('valid_from__lt', models.F('valid_until')), _connector='OR'), name='layer_times_in_order', violation_error_message='valid_from must be before valid_until'), models.CheckConstraint(condition=models.Q(('position__gte', 0)), name='layer_position_positive', violation_error_message='a position is 0 or more'), models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='layer_version_positive', violation_error_message='a version is 1 or more')],
            },
        ),
        migrations.CreateModel(
            name='PolicyVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('published_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('published_by_label', models.CharField(max_length=200)),
                ('comment', models.TextField(blank=True)),
                ('request_id', models.CharField(blank=True, max_length=128)),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='toolpolicy.document')),
                ('published_by', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-number',),
                'permissions': (('publish_policy', 'Can publish and roll back the policy'),),
                'default_permissions': ('view',),
            },
        ),
        migrations.CreateModel(
            name='PolicyState',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('registry_digest', models.CharField(blank=True, max_length=71)),
                ('settings_digest', models.CharField(blank=True, max_length=71)),
                ('live', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='toolpolicy.policyversion')),
            ],
            options={
                'verbose_name_plural': 'policy state',
                'default_permissions': ('view',),
            },
        ),
        migrations.CreateModel(
            name='RecordBody',
            fields=[
                ('record', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='body', serialize=False, to='toolpolicy.record')),
                ('text', models.TextField()),
            ],
            options={
                'verbose_name_plural': 'record bodies',
                'default_permissions': ('view',),
            },
        ),
        migrations.AddField(
            model_name='record',
            name='client',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='toolpolicy.apiclient'),
        ),
        migrations.CreateModel(
            name='RefusalCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('address', models.CharField(max_length=64)),
                ('minute', models.DateTimeField()),
                ('status', models.PositiveSmallIntegerField()),
                ('count', models.PositiveIntegerField(default=1)),
            ],
            options={
                'ordering': ('-minute', 'address', 'status'),
                'default_permissions': ('view',),
                'constraints': [models.UniqueConstraint(fields=('minute', 'address', 'status'), name='refusal_minute_unique', violation_error_message='this minute is counted already'), models.CheckConstraint(condition=models.Q(('count__gte', 1)), name='refusal_count_positive', violation_error_message='a count is 1 or more')],
            },
        ),
        migrations.CreateModel(
            name='Rule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rule_id', models.CharField(help_text='Names the rule in refusals and reports; unique in its layer.', max_length=200, validators=[django.core.validators.RegexValidator('^[A-Za-z0-9._:-]+\\Z', 'use letters, digits and `. _ : -` only')], verbose_name='id')),
                ('effect', models.CharField(choices=[('strict rules', [('allow', 'allow'), ('deny', 'deny'), ('hide', 'hide from listings'), ('require_approval', 'require approval'), ('auto_approve', 'approve automatically')]), ('ordered rules', [('on', 'on: runs'), ('ask', 'ask: runs after approval'), ('off', 'off: neither listed nor callable'), ('auto', 'auto: no opinion')])], help_text='An effect or, in an ordered layer, a mode.', max_length=16)),
                ('surfaces', toolpolicy.models.fields.ExactJSONField(blank=True, default=list, help_text='catalog, search, call; none means all of them.')),
                ('match', toolpolicy.models.fields.ExactJSONField(blank=True, default=dict, help_text='Which tools and calls it is about.')),
                ('except_match', toolpolicy.models.fields.ExactJSONField(blank=True, help_text='What is carved out of the match.', null=True, verbose_name='except')),
                ('when', toolpolicy.models.fields.ExactJSONField(blank=True, default=dict, help_text='Context values that must be present and match.')),
                ('reason', models.TextField(blank=True, help_text='Told to the caller when the rule refuses.')),
                ('position', models.PositiveIntegerField(help_text='The index of the rule in its layer, from 0.', validators=[django.core.validators.MaxValueValidator(999999, 'a position is 0 to 999,999')])),
                ('enabled', models.BooleanField(default=True)),
                ('observe', models.BooleanField(default=False, help_text='Report what this rule would change, but do not enforce it.')),
                ('expires_at', models.DateTimeField(blank=True, help_text='The first moment at which the rule no longer applies.', null=True)),
                ('examples', toolpolicy.models.fields.ExactJSONField(blank=True, default=list, help_text='Calls that the rule is meant for.')),
                ('approval', toolpolicy.models.fields.ExactJSONField(blank=True, default=dict, help_text='Options of the approval it asks for.')),
                ('layer', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='rules', to='toolpolicy.layer')),
            ],
            options={
                'ordering': ('layer_id', 'position'),
            },
        ),
        migrations.CreateModel(
            name='RuleUsage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('hour', models.DateTimeField()),
                ('layer', models.CharField(blank=True, max_length=200)),
                ('rule', models.CharField(blank=True, max_length=200)),
                ('family', models.CharField(blank=True, max_length=128)),
                ('tool', models.CharField(blank=True, max_length=128)),
                ('outcome', models.CharField(max_length=16)),
                ('shard', models.PositiveSmallIntegerField(default=0)),
                ('count', models.PositiveBigIntegerField(default=1)),
            ],
            options={
                'verbose_name_plural': 'rule usage',
                'ordering': ('-hour',),
                'default_permissions': ('view',),
                'constraints': [models.UniqueConstraint(fields=('hour', 'layer', 'rule', 'family', 'tool', 'outcome', 'shard'), name='usage_hour_unique', violation_error_message='this hour is counted already'), models.CheckConstraint(condition=models.Q(('count__gte', 1)), name='usage_count_positive', violation_error_message='a count is 1 or more')],
            },
        ),
        migrations.CreateModel(
            name='SessionTaint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('session', models.CharField(max_length=200)),
                ('since', models.DateTimeField(default=django.utils.timezone.now)),
                ('client', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='toolpolicy.apiclient')),
            ],
            options={
                'default_permissions': ('view',),
            },
        ),
        migrations.CreateModel(
            name='ToolDeclaration',
            fields=[
                ('digest', models.CharField(help_text='sha256: and 64 hex digits.', max_length=71, primary_key=True, serialize=False)),
                ('text', models.TextField(help_text='The canonical text.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'default_permissions': ('view',),
                'constraints': [models.CheckConstraint(condition=models.Q(('digest__startswith', 'sha256:')), name='declaration_digest_form', violation_error_message='a digest starts with sha256:')],
            },
        ),
        migrations.CreateModel(
            name='ToolFamily',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='Rules match it as `family`.', max_length=128)),
                ('kind', models.CharField(choices=[('toolpack', 'tool pack'), ('connector', 'connector'), ('mcp_server', 'MCP server')], default='mcp_server', max_length=16)),
                ('prefix', models.CharField(blank=True, help_text='Put before each name on import, for example `mcp__github__`.', max_length=64)),
                ('trusted', models.BooleanField(default=True, help_text='Whether hints that loosen rules, such as read-only, are believed.')),
                ('description', models.TextField(blank=True)),
            ],
            options={
                'verbose_name_plural': 'tool families',
                'ordering': ('name',),
                'constraints': [models.UniqueConstraint(fields=('name',), name='family_name_unique', violation_error_message='another family has this name'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='family_name_given', violation_error_message='a family needs a name'), models.CheckConstraint(condition=models.Q(('kind__in', ('toolpack', 'connector', 'mcp_server'))), name='family_kind_known', violation_error_message='the kind is toolpack, connector or mcp_server')],
            },
        ),
        migrations.CreateModel(
            name='Tool',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='As the model sees it, prefix included.', max_length=128, validators=[django.core.validators.RegexValidator('^[A-Za-z0-9_.\\-/:]{1,128}\\Z', 'use letters, digits and `_ . - / :` only')])),
                ('title', models.CharField(blank=True, max_length=200)),
                ('state', models.CharField(choices=[('active', 'active'), ('changed', 'changed since review'), ('quarantined', 'quarantined'), ('retired', 'retired')], default='active', max_length=16)),
                ('dispatcher', toolpolicy.models.fields.ExactJSONField(blank=True, help_text='Where its arguments name the tool that really runs.', null=True)),
                ('privilege', toolpolicy.models.fields.ExactJSONField(blank=True, help_text='Which arguments raise its permission.', null=True)),
                ('overrides', toolpolicy.models.fields.ExactJSONField(blank=True, default=dict, help_text='Attributes laid over what the tool declares.')),
                ('vanished_at', models.DateTimeField(blank=True, help_text='When an import no longer held it.', null=True)),
                ('first_seen_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('last_seen_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('current', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='toolpolicy.tooldeclaration')),
                ('reviewed', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='toolpolicy.tooldeclaration')),
                ('family', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='tools', to='toolpolicy.toolfamily')),
            ],
            options={
                'ordering': ('family_id', 'name'),
            },
        ),
        migrations.AddConstraint(
            model_name='apiclient',
            constraint=models.UniqueConstraint(fields=('key_id',), name='client_key_id_unique', violation_error_message='another key has this id'),
        ),
        migrations.AddConstraint(
            model_name='apiclient',
            constraint=models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='client_name_given', violation_error_message='a client needs a name'),
        ),
        migrations.AddConstraint(
            model_name='apiclient',
            constraint=models.CheckConstraint(condition=models.Q(('expires_at__isnull', True), ('expires_at__gt', models.F('created_at')), _connector='OR'), name='client_expires_later', violation_error_message='a key must expire after it was made'),
        ),
        migrations.AddIndex(
            model_name='freeze',
            index=models.Index(condition=models.Q(('lifted_at__isnull', True)), fields=['kind', 'value'], name='freeze_standing'),
        ),
        migrations.AddConstraint(
            model_name='freeze',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ('agent', 'channel', 'family', 'tool'))), name='freeze_kind_known', violation_error_message='a freeze is about an agent, a channel, a family or a tool'),
        ),
        migrations.AddConstraint(
            model_name='freeze',
            constraint=models.CheckConstraint(condition=models.Q(('value', ''), _negated=True), name='freeze_value_given', violation_error_message='say what is frozen'),
        ),
        migrations.AddConstraint(
            model_name='freeze',
            constraint=models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='freeze_reason_given', violation_error_message='say why'),
        ),
        migrations.AddConstraint(
            model_name='freeze',
            constraint=models.CheckConstraint(condition=models.Q(('until__isnull', True), ('until__gt', models.F('created_at')), _connector='OR'), name='freeze_until_later', violation_error_message='the end of a freeze must be in the future'),
        ),
        migrations.AddConstraint(
            model_name='policyversion',
            constraint=models.UniqueConstraint(fields=('number',), name='policy_version_number_unique', violation_error_message='another version has this number'),
        ),
        migrations.AddConstraint(
            model_name='policyversion',
            constraint=models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='policy_version_number_positive', violation_error_message='versions are numbered from 1'),
        ),
        migrations.AddConstraint(
            model_name='policystate',
            constraint=models.CheckConstraint(condition=models.Q(('id', 1)), name='policy_state_one_row', violation_error_message='there is one policy state'),
        ),
        migrations.AddIndex(
            model_name='record',
            index=models.Index(fields=['kind', '-id'], name='record_of_kind'),
        ),
        migrations.AddIndex(
            model_name='record',
            index=models.Index(fields=['client', '-id'], name='record_of_client'),
        ),
        migrations.AddIndex(
            model_name='record',
            index=models.Index(fields=['tool', '-id'], name='record_of_tool'),
        ),
        migrations.AddIndex(
            model_name='record',
            index=models.Index(fields=['at'], name='record_at'),
        ),
        migrations.AddIndex(
            model_name='record',
            index=models.Index(condition=models.Q(('idempotency_key', ''), _negated=True), fields=['client', 'idempotency_key'], name='record_idempotency'),
        ),
        migrations.AddIndex(
            model_name='record',
            index=models.Index(condition=models.Q(('request_id', ''), _negated=True), fields=['request_id'], name='record_request'),
        ),
        migrations.AddConstraint(
            model_name='record',
            constraint=models.UniqueConstraint(fields=('uid',), name='record_uid_unique', violation_error_message='another record has this id'),
        ),
        migrations.AddConstraint(
            model_name='record',
            constraint=models.UniqueConstraint(fields=('writer_id', 'writer_n'), name='record_writer_unique', violation_error_message='this writer has given this number already'),
        ),
        migrations.AddConstraint(
            model_name='record',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ('decision', 'listing', 'simulation', 'change', 'publish', 'freeze', 'key', 'import', 'refused'))), name='record_kind_known', violation_error_message='the kind is not known'),
        ),
        migrations.AddConstraint(
            model_name='record',
            constraint=models.CheckConstraint(condition=models.Q(('writer_n__gte', 1)), name='record_writer_n_positive', violation_error_message='records are numbered from 1'),
        ),
        migrations.AddConstraint(
            model_name='rule',
            constraint=models.UniqueConstraint(fields=('layer', 'rule_id'), name='rule_id_unique', violation_error_message='another rule of this layer has this id'),
        ),
        migrations.AddConstraint(
            model_name='rule',
            constraint=models.UniqueConstraint(fields=('layer', 'position'), name='rule_position_unique', violation_error_message='another rule of this layer has this position'),
        ),
        migrations.AddConstraint(
            model_name='rule',
            constraint=models.CheckConstraint(condition=models.Q(('rule_id', ''), _negated=True), name='rule_id_given', violation_error_message='a rule needs an id'),
        ),
        migrations.AddConstraint(
            model_name='rule',
            constraint=models.CheckConstraint(condition=models.Q(('effect__in', ('allow', 'deny', 'hide', 'require_approval', 'auto_approve', 'on', 'ask', 'off', 'auto'))), name='rule_effect_known', violation_error_message='the effect is no effect and no mode'),
        ),
        migrations.AddConstraint(
            model_name='rule',
            constraint=models.CheckConstraint(condition=models.Q(('position__gte', 0)), name='rule_position_positive', violation_error_message='a position is 0 or more'),
        ),
        migrations.AddConstraint(
            model_name='sessiontaint',
            constraint=models.UniqueConstraint(fields=('client', 'session'), name='taint_session_unique', violation_error_message='this session is marked already'),
        ),
        migrations.AddConstraint(
            model_name='sessiontaint',
            constraint=models.CheckConstraint(condition=models.Q(('session', ''), _negated=True), name='taint_session_given', violation_error_message='a session needs a name'),
        ),
        migrations.AddIndex(
            model_name='tool',
            index=models.Index(django.db.models.functions.text.Lower('name'), name='tool_name_lower'),
        ),
        migrations.AddConstraint(
            model_name='tool',
            constraint=models.UniqueConstraint(fields=('family', 'name'), name='tool_name_unique', violation_error_message='this family has a tool of this name'),
        ),
        migrations.AddConstraint(
            model_name='tool',
            constraint=models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='tool_name_given', violation_error_message='a tool needs a name'),
        ),
        migrations.AddConstraint(
            model_name='tool',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ('active', 'changed', 'quarantined', 'retired'))), name='tool_state_known', violation_error_message='the state is active, changed, quarantined or retired'),
        ),
    ]
