/** The schedules of one dag: what they are, when they fire next, what became of past firings. */
import type { DagDetails, SchedulePage } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { OpenButton } from '../../actions/change.tsx';
import { firingsQuery, schedulesOfDagQuery } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { Card, Empty, Loaded } from '../../parts/page.tsx';
import { Icon } from '../../shell/icons.tsx';
import { Firings } from './firings.tsx';
import { ScheduleDialog } from './schedule-dialog.tsx';
import { ScheduleTable } from './schedule-table.tsx';
import { Windows } from './windows.tsx';

export function DagSchedules({ dag }: { readonly dag: DagDetails }) {
  const schedules = useQuery(schedulesOfDagQuery(dag.name));
  const [{ schedule: named }, change] = useSearchState();
  return (
    <>
      <Card
        title="Schedules"
        side={
          <OpenButton dialog={(onClose) => <ScheduleDialog dag={dag.name} onClose={onClose} />}>
            New schedule …
          </OpenButton>
        }
        flush
      >
        <Loaded query={schedules}>
          {({ items }: SchedulePage) =>
            items.length === 0 ? (
              <Empty title="This DAG has no schedule.">
                <span>
                  Create one here, or write <code>schedule: {"{ cron: '0 6 * * *', zone: 'Europe/Berlin' }"}</code> in
                  its definition.
                </span>
              </Empty>
            ) : (
              <ScheduleTable
                schedules={items}
                chosen={named ?? (items.length === 1 ? items[0]?.name : undefined)}
                onChoose={(name) => change({ schedule: name === named ? undefined : name })}
              />
            )
          }
        </Loaded>
      </Card>
      <Chosen dag={dag.name} schedules={schedules.data?.items ?? []} named={named} />
    </>
  );
}

interface ChosenProps {
  readonly dag: string;
  readonly schedules: SchedulePage['items'];
  readonly named: string | undefined;
}

function Chosen({ dag, schedules, named }: ChosenProps) {
  const chosen = schedules.find(({ name }) => name === named) ?? schedules[0];
  return (
    <>
      {chosen !== undefined && (
        <Next
          dag={dag}
          schedule={chosen.name}
          zone={chosen.zone}
          isPaused={chosen.paused}
          isOnly={schedules.length === 1}
        />
      )}
      <Windows dag={dag} schedule={named} zone={chosen?.zone} />
    </>
  );
}

interface NextProps {
  readonly dag: string;
  readonly schedule: string;
  readonly zone: string;
  readonly isPaused: boolean;
  readonly isOnly: boolean;
}

function Next({ dag, schedule, zone, isPaused, isOnly }: NextProps) {
  const firings = useQuery(firingsQuery(dag, schedule));
  const of = isOnly ? '' : ` of ${schedule}`;
  return (
    <Card
      title={
        <>
          Next firings{of}
          {isPaused && (
            <span className="soft">
              {' '}
              <Icon name="pause" size={12} /> once it is resumed
            </span>
          )}
        </>
      }
      flush
    >
      <Loaded query={firings}>{({ items }) => <Firings firings={items} zone={zone} />}</Loaded>
    </Card>
  );
}
