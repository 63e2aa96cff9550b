/** A table as a file for spreadsheets. Text from users is data there too: no cell begins a formula (I69). */
const FORMULA = /^[=+\-@\t\r]/;
const QUOTED = /[",\r\n]/;

export type Cell = string | number | null;

export function csvOf(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(cellOf).join(',')}\r\n`).join('');
}

function cellOf(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  // Spreadsheets show what follows an apostrophe as it is.
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
