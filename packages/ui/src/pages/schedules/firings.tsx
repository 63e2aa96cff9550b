/** Times at which a schedule fires: there, here, and what a clock change, the calendar or jitter does to them. */
import { Ago, Time } from '../../parts/now.tsx';
import { Empty } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { clockChange } from '../dag/clock-changes.ts';

export interface ShownFiring {
  readonly firesAt: string;
  /** `2027-03-28T03:00:00+02:00` */
  readonly local: string;
  readonly note: string | null;
}

const OFFSET = /([+-])(\d\d):(\d\d)$/;

function offsetMinutes(local: string): number {
  const [, sign, hours, minutes] = OFFSET.exec(local) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0));
}

const day = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' });

/** What a clock there shows. */
function wallText(local: string): string {
  const date = new Date(`${local.slice(0, 10)}T00:00:00Z`);
  const seconds = local.slice(16, 19);
  return `${day.format(date)}, ${local.slice(11, 16)}${seconds === ':00' ? '' : seconds}`;
}

export function Firings({ firings, zone }: { readonly firings: readonly ShownFiring[]; readonly zone: string }) {
  if (firings.length === 0) return <Empty title="It does not fire again." />;
  const columns: readonly Column<ShownFiring>[] = [
    { head: `In ${zone}`, look: 'nowrap', cell: ({ local }) => wallText(local) },
    { head: 'Here', place: 'hide-phone', look: 'soft', cell: ({ firesAt }) => <Time at={firesAt} zone={zone} /> },
    { head: 'Notes', isHeadHidden: true, cell: (firing) => <Notes firing={firing} before={before(firings, firing)} /> },
  ];
  return <Table rows={firings} keyOf={({ firesAt, local }) => `${firesAt} ${local}`} columns={columns} />;
}

const before = (firings: readonly ShownFiring[], firing: ShownFiring): ShownFiring | undefined =>
  firings[firings.indexOf(firing) - 1];

function Notes({ firing, before: last }: { readonly firing: ShownFiring; readonly before: ShownFiring | undefined }) {
  const { firesAt, local, note } = firing;
  const change = clockChange(last && offsetMinutes(last.local), offsetMinutes(local));
  return (
    <>
      {change !== null && <span className="chip warn">{change}</span>}
      {note !== null && <span className="small soft"> {note}</span>}
      {change === null && note === null && (
        <span className="faint">
          <Ago at={firesAt} />
        </span>
      )}
    </>
  );
}
