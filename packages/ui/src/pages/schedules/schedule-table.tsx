/** Schedules, each with what can be done to it. */
import type { ListedSchedule } from '@signalbox/protocol';
import { ChangeButton, ConfirmButton, OpenButton } from '../../actions/change.tsx';
import { post, remove, seg } from '../../api/client.ts';
import { DagLink } from '../../parts/dag-link.tsx';
import { actorName, count, span } from '../../parts/format.ts';
import { Ago, Time } from '../../parts/now.tsx';
import { cronWords } from '../../parts/schedule-words.ts';
import { actionsOf, type Column, Table } from '../../parts/table.tsx';
import { Icon } from '../../shell/icons.tsx';
import { ScheduleDialog } from './schedule-dialog.tsx';
import { hasIcal } from './schedule-form.ts';

const TOUCHED = ['schedules', 'schedule-pages', 'firings', 'dag', 'dag-chunk', 'windows'];

interface ScheduleTableProps {
  readonly schedules: readonly ListedSchedule[];
  readonly withDag?: boolean;
  /** The one whose firings are shown below. */
  readonly chosen?: string | undefined;
  readonly onChoose?: (name: string) => void;
}

export function ScheduleTable({ schedules, withDag = false, chosen, onChoose }: ScheduleTableProps) {
  const columns: readonly (Column<ListedSchedule> | false)[] = [
    withDag && { head: 'DAG', cell: ({ dag }) => <DagLink name={dag} tab="schedules" /> },
    {
      head: 'Schedule',
      cell: (schedule) => <Name schedule={schedule} isChosen={schedule.name === chosen} onChoose={onChoose} />,
    },
    ...FIRES,
    // The tab of a dag has room for it.
    !withDag && { head: 'Runs so far', place: 'right hide-narrow', cell: ({ fired }) => count(fired) },
    ...SET,
  ];
  return (
    <Table
      isStacked
      rows={schedules}
      keyOf={({ dag, name }) => `${dag}/${name}`}
      columns={columns}
      isSelected={({ name }) => name === chosen}
    />
  );
}

interface NameProps {
  readonly schedule: ListedSchedule;
  readonly isChosen: boolean;
  readonly onChoose: ((name: string) => void) | undefined;
}

function Name({ schedule: { name, origin, fault }, isChosen, onChoose }: NameProps) {
  return (
    <>
      {onChoose === undefined ? (
        <b className="name-link">{name}</b>
      ) : (
        <button type="button" className="link-button name-link" aria-pressed={isChosen} onClick={() => onChoose(name)}>
          {name}
        </button>
      )}{' '}
      {origin === 'api' && (
        <span className="chip" title="Created without a deploy; deploys leave it alone">
          added here
        </span>
      )}
      {fault !== null && <div className="small tone-bad">{fault}</div>}
    </>
  );
}

const FIRES: readonly Column<ListedSchedule>[] = [
  {
    head: 'Fires',
    look: 'phone-line',
    cell: (schedule) => (
      <>
        <span title={`${schedule.fires} (${schedule.zone})`}>{cronWords(schedule.fires)}</span>
        <div className="small faint">
          {schedule.zone}
          {schedule.jitterMs !== undefined && `, jitter up to ${span(schedule.jitterMs)}`}
        </div>
        {schedule.requires !== undefined && <Requires schedule={schedule} />}
      </>
    ),
  },
  { head: 'Next', label: 'Next', cell: (schedule) => <Next schedule={schedule} /> },
];

const SET: readonly Column<ListedSchedule>[] = [
  {
    head: 'Set by',
    place: 'hide-narrow',
    look: 'soft nowrap',
    cell: ({ origin, setBy, setAt }) => (
      <>
        {origin === 'definition' ? 'a deploy' : actorName(setBy)}
        <div className="small faint">
          <Ago at={setAt} />
        </div>
      </>
    ),
  },
  actionsOf((schedule) => <Actions schedule={schedule} />),
];

function Next({ schedule: { paused, nextAt, zone } }: { readonly schedule: ListedSchedule }) {
  if (paused) return <span className="chip warn">paused</span>;
  if (nextAt === null) return <span className="faint">never again</span>;
  return (
    <>
      <Time at={nextAt} zone={zone} />
      <div className="small faint">
        <Ago at={nextAt} zone={zone} />
      </div>
    </>
  );
}

const UNMET = { skip: 'else the run is cancelled', fail: 'else the run fails', run: 'else it runs anyway' } as const;

/** Which DAGs must have succeeded, each with a link. */
function Requires({
  schedule: { requires = [], waitMs, lookMs, unmet = 'skip' },
}: {
  readonly schedule: ListedSchedule;
}) {
  return (
    <div className="small soft">
      Requires{' '}
      {requires.map(({ dag, withinMs }, at) => (
        <span key={dag}>
          {at > 0 && ', '}
          <DagLink name={dag} className="inline-link" />{' '}
          {withinMs === undefined ? 'of the same window' : `within ${span(withinMs)}`}
        </span>
      ))}
      ; {waitMs === undefined ? '' : `waits up to ${span(waitMs)}, `}
      {lookMs === undefined ? '' : `looks every ${span(lookMs)}, `}
      {UNMET[unmet]}.
    </div>
  );
}

function Actions({ schedule }: { readonly schedule: ListedSchedule }) {
  const { dag, name, paused, origin } = schedule;
  const path = `/v1/dags/${seg(dag)}/schedules/${seg(name)}`;
  const verb = paused ? 'Resume' : 'Pause';
  return (
    <>
      <ChangeButton
        run={() => post(`${path}/${paused ? 'resume' : 'pause'}`)}
        done={`The schedule ${name} of ${dag} ${paused ? 'goes on' : 'is paused'}.`}
        touches={TOUCHED}
        label={`${verb} the schedule ${name} of ${dag}`}
        title={`${verb} the schedule`}
        className="button small icon"
      >
        <Icon name={paused ? 'play' : 'pause'} size={13} />
      </ChangeButton>
      {origin === 'api' && (
        <>
          {!hasIcal(schedule) && (
            <OpenButton
              label={`Edit the schedule ${name} of ${dag}`}
              dialog={(onClose) => <ScheduleDialog dag={dag} schedule={schedule} onClose={onClose} />}
            >
              Edit
            </OpenButton>
          )}
          <ConfirmButton
            button="Delete …"
            label={`Delete the schedule ${name} of ${dag}`}
            title={`Delete the schedule ${name}`}
            verb="Delete"
            change={{
              run: () => remove(path),
              done: `The schedule ${name} of ${dag} is deleted.`,
              touches: TOUCHED,
            }}
          >
            <p>It fires no more. Its runs and what became of its firings stay.</p>
          </ConfirmButton>
        </>
      )}
    </>
  );
}
