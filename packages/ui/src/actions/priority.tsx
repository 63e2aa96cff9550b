/** Changes the priority of a run that waits or runs, or of all that fit a filter, after a preview. */
import type { PrioritiesSet, PrioritySet, RunSummary } from '@signalbox/protocol';
import { PRIORITIES } from '@signalbox/protocol/words';
import { useState } from 'react';
import { post, seg } from '../api/client.ts';
import { ChoiceField } from '../parts/field.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { useToasts } from '../parts/toasts.tsx';
import { OpenButton, Refused } from './change.tsx';
import { usePreview } from './preview.ts';
import {
  chosenAtFirst,
  eachPage,
  filterOf,
  type ManyRunsProps,
  RunFilterFields,
  RunsPreview,
  resultText,
  TOUCHED_BY_MANY,
} from './runs-by-filter.tsx';

type Priority = (typeof PRIORITIES)[number];
type Changed = PrioritiesSet['items'][number];

const CHOICES = Object.fromEntries(PRIORITIES.map((one) => [one, one])) as Record<Priority, Priority>;
const EXPLANATION =
  'Tasks that wait go before those of lower priorities from then on, and after those of higher ones. Running attempts continue.';
const MANY = '/v1/runs/priority';

type OfRun = Pick<RunSummary, 'id' | 'state' | 'priority' | 'backfill'>;

/** Why the priority of this run is what it is for good; undefined if it can be changed. */
export function fixedPriority({ state, backfill }: OfRun): string | undefined {
  if (state === 'ended') return 'The run has ended.';
  return backfill === null ? undefined : 'Runs of a backfill wait in a lane of their own, whatever their priority.';
}

export function PriorityDialog({ run, onClose }: { readonly run: OfRun; readonly onClose: () => void }) {
  const [to, setTo] = useState<Priority>(run.priority);
  const { tell } = useToasts();
  return (
    <FormDialog
      title="Change the priority of the run"
      verb="Change the priority"
      isReady={to !== run.priority}
      onClose={onClose}
      change={{
        run: () => post<PrioritySet>(`/v1/runs/${seg(run.id)}/priority`, { priority: to }),
        onDone: ({ before, priority }) => tell(`The priority of the run was ${before} and is ${priority}.`),
        touches: [...TOUCHED_BY_MANY, 'task-why'],
      }}
    >
      <p>{EXPLANATION}</p>
      <ChoiceField label="Priority" value={to} choices={CHOICES} onChange={setTo} />
    </FormDialog>
  );
}

export function PriorityButton({ run }: { readonly run: OfRun }) {
  if (fixedPriority(run) !== undefined) return null;
  return (
    <OpenButton dialog={(onClose) => <PriorityDialog run={run} onClose={onClose} />}>Change the priority …</OpenButton>
  );
}

export function PrioritiesDialog({ dag, state, onClose }: ManyRunsProps & { readonly onClose: () => void }) {
  const [chosen, setChosen] = useState(() => chosenAtFirst(state));
  const [to, setTo] = useState<Priority>('high');
  const { tell } = useToasts();
  const body = { ...filterOf(dag, chosen), to };
  const preview = usePreview({
    path: MANY,
    body,
    ask: (signal) => eachPage<Changed>(MANY, { ...body, dryRun: true }, signal),
    enabled: dag !== undefined || chosen.tag !== '',
  });
  return (
    <FormDialog
      title={dag === undefined ? 'Change priorities by tag' : `Change priorities of runs of ${dag}`}
      verb="Change the priorities"
      isReady={(preview.data?.length ?? 0) > 0}
      onClose={onClose}
      change={{
        run: () => eachPage<Changed>(MANY, body),
        onDone: (done) => tell(resultText(done, `changed to ${to}`)),
        touches: TOUCHED_BY_MANY,
      }}
    >
      <p>{EXPLANATION}</p>
      <ChoiceField label="New priority" value={to} choices={CHOICES} onChange={setTo} />
      <RunFilterFields dag={dag} chosen={chosen} onChange={setChosen} />
      {preview.error !== null && <Refused error={preview.error} />}
      {preview.data !== undefined && (
        <RunsPreview
          found={preview.data}
          withDag={dag === undefined}
          deed={`Priority ${to} for`}
          note={({ before }) => `${before} → ${to}`}
        />
      )}
    </FormDialog>
  );
}
