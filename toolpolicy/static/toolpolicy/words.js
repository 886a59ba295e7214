// What scripts say, in the language of the page: its template has it.
export const words = document.getElementById("words").dataset;
