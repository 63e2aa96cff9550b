/**
 * The layouts that a journal row can have, by the format that it names.
 *
 * A *layout* says which kinds exist and which fields each has. From format 4 on, a format has exactly one layout. Before
 * that, kinds and fields were added without a new format: rows of format 2 have two layouts, rows of format 3 seven.
 * Fractions number them in the order in which they were added, so a field can say that it came with 3.3. A row does not say
 * which layout it has. `readRow` tries them all, and the bytes decide: a wrong layout leads to an unknown kind, a flag that
 * is neither 0 nor 1, or a change that is cut off.
 */
interface Layout {
  readonly layout: number;
  /** Above the number of each kind that the newest writer of this layout knew. */
  readonly kindCount: number;
}

const LAYOUTS: Readonly<Record<number, readonly Layout[]>> = {
  1: [{ layout: 1, kindCount: 15 }],
  2: [
    { layout: 2, kindCount: 19 },
    { layout: 2.1, kindCount: 19 }, // ScheduleSet: fault
  ],
  3: [
    { layout: 3, kindCount: 22 }, // RunCreated, AttemptEnded: facts
    { layout: 3.1, kindCount: 22 }, // RunCreated: parent
    { layout: 3.2, kindCount: 25 }, // TaskCleared: notes. AttemptClaimed, AttemptEnded: code and notes
    { layout: 3.3, kindCount: 28 }, // AttemptEnded: fingerprint and quick
    { layout: 3.4, kindCount: 36 }, // TaskCleared: more. RunReopened: retryNo
    { layout: 3.5, kindCount: 36 }, // RunReopened: asClosing
    { layout: 3.6, kindCount: 43 }, // RunClosing: graceMs. RunReopened: notes
  ],
};

/** Newest first: most rows are young. `kindCount` is that of a format from 4 on. */
export function layoutsOf(format: number, kindCount: number): readonly Layout[] {
  return LAYOUTS[format]?.toReversed() ?? [{ layout: format, kindCount }];
}
