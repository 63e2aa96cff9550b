/** Schedules, each with what can be done to it. */
import type { ListedSchedule } from '@signalbox/protocol';
import { ChangeButton, ConfirmButton, OpenButton } from '../../actions/change.tsx';
import { post, remove, seg } from '../../api/client.ts';
import { DagLink } from '../../parts/dag-link.tsx';
import { actorName, count, span } from '../../parts/format.ts';
import { Ago, Time } from '../../parts/now.tsx';
import { cronWords } from '../../parts/schedule-words.ts';
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
  return (
    <div className="scroll-x">
      <table className="list stacked">
        <thead>
          <tr>
            {withDag && <th>DAG</th>}
            <th>Schedule</th>
            <th>Fires</th>
            <th>Next</th>
            <th className="right hide-narrow">Runs so far</th>
            <th className="hide-narrow">Set by</th>
            <th>
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {schedules.map((schedule) => (
            <Row
              key={`${schedule.dag}/${schedule.name}`}
              schedule={schedule}
              withDag={withDag}
              isChosen={schedule.name === chosen}
              onChoose={onChoose}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  readonly schedule: ListedSchedule;
  readonly withDag: boolean;
  readonly isChosen: boolean;
  readonly onChoose: ((name: string) => void) | undefined;
}

function Row({ schedule, withDag, isChosen, onChoose }: RowProps) {
  const { dag, name, fires, zone, nextAt, paused, fault, fired, setBy, setAt, origin } = schedule;
  return (
    <tr className={isChosen ? 'selected' : undefined}>
      {withDag && (
        <td>
          <DagLink name={dag} tab="schedules" />
        </td>
      )}
      <td>
        {onChoose === undefined ? (
          <b>{name}</b>
        ) : (
          <button
            type="button"
            className="link-button name-link"
            aria-pressed={isChosen}
            onClick={() => onChoose(name)}
          >
            {name}
          </button>
        )}{' '}
        {origin === 'api' && (
          <span className="chip" title="Created without a deploy; deploys leave it alone">
            added here
          </span>
        )}
        {fault !== null && <div className="small tone-bad">{fault}</div>}
      </td>
      <td>
        <span title={`${fires} (${zone})`}>{cronWords(fires)}</span>
        <div className="small faint">
          {zone}
          {schedule.jitterMs !== undefined && `, jitter up to ${span(schedule.jitterMs)}`}
        </div>
        {schedule.requires !== undefined && <Requires schedule={schedule} />}
      </td>
      <td>
        {paused ? (
          <span className="chip warn">paused</span>
        ) : nextAt === null ? (
          <span className="faint">never again</span>
        ) : (
          <>
            <Time at={nextAt} zone={zone} />
            <div className="small faint">
              <Ago at={nextAt} zone={zone} />
            </div>
          </>
        )}
      </td>
      <td className="right hide-narrow">{count(fired)}</td>
      <td className="soft nowrap hide-narrow">
        {origin === 'definition' ? 'a deploy' : actorName(setBy)}
        <div className="small faint">
          <Ago at={setAt} />
        </div>
      </td>
      <td>
        <Actions schedule={schedule} />
      </td>
    </tr>
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
    <div className="row row-actions">
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
    </div>
  );
}
