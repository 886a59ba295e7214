"""What an auditor asks: reports of a period, and what was in force at a point in time.

Nothing here decides or changes anything; what is given away as a file leaves a record.
"""
