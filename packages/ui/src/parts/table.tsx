/** A list as a table. A column is described once: its head, its cells, and where there is no room for it. */
import { Fragment, type ReactNode } from 'react';

export interface Column<T> {
  readonly head: string;
  /** Head and cells: `right`, or `hide-narrow` and `hide-phone` where there is no room. */
  readonly place?: string;
  /** Cells only. */
  readonly look?: string | ((row: T) => string);
  /** Stands before the cell on a phone, where a stacked table has no heads. */
  readonly label?: string;
  readonly title?: string | ((row: T) => string);
  readonly cell: (row: T) => ReactNode;
  /** Only read aloud. */
  readonly isHeadHidden?: boolean;
}

/** The last column: what can be done to a row. */
export const actionsOf = <T,>(cell: (row: T) => ReactNode): Column<T> => ({
  head: 'Actions',
  isHeadHidden: true,
  cell: (row) => <div className="row row-actions">{cell(row)}</div>,
});

interface TableProps<T> {
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** Those that are false are left out. */
  readonly columns: readonly (Column<T> | false)[];
  /** Its rows become blocks on a phone. */
  readonly isStacked?: boolean;
  readonly className?: string;
  readonly isSelected?: (row: T) => boolean;
  /** A second line over the whole width, for rows that have one. */
  readonly below?: (row: T) => ReactNode;
}

export function Table<T>({ rows, keyOf, columns, isStacked = false, className, isSelected, below }: TableProps<T>) {
  const shown = columns.filter((column) => column !== false);
  return (
    <div className="scroll-x">
      <table className={classes('list', isStacked && 'stacked', className)}>
        <thead>
          <tr>
            {shown.map(({ head, place, isHeadHidden }) => (
              <th key={head} className={place}>
                {isHeadHidden === true ? <span className="visually-hidden">{head}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const more = below?.(row);
            return (
              <Fragment key={keyOf(row)}>
                <tr className={isSelected?.(row) === true ? 'selected' : undefined}>
                  {shown.map((column) => (
                    <Cell key={column.head} column={column} row={row} />
                  ))}
                </tr>
                {more != null && (
                  <tr>
                    <td colSpan={shown.length}>{more}</td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Cell<T>({
  column: { place, look, label, title, cell },
  row,
}: {
  readonly column: Column<T>;
  readonly row: T;
}) {
  return (
    <td className={classes(place, of(look, row))} data-label={label} title={of(title, row)}>
      {cell(row)}
    </td>
  );
}

const of = <T,>(value: string | ((row: T) => string) | undefined, row: T): string | undefined =>
  typeof value === 'function' ? value(row) : value;

const classes = (...names: readonly (string | false | undefined)[]): string | undefined =>
  names.filter(Boolean).join(' ') || undefined;
