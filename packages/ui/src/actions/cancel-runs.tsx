/** Cancels the runs that fit a filter, after a preview: for a loop of submissions, or a queue that nobody wants any more. */
import type { CancelledRuns, CancelRuns } from '@signalbox/protocol';
import { PRIORITIES } from '@signalbox/protocol/words';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '../api/client.ts';
import { dagLabelsQuery } from '../pages/dags/chunks.ts';
import { CheckField, ChoiceField, TextField } from '../parts/field.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { count, plural, shortId } from '../parts/format.ts';
import { StateIcon } from '../parts/state.tsx';
import { useToasts } from '../parts/toasts.tsx';
import { OpenButton, Refused } from './change.tsx';
import { usePreview } from './preview.ts';

type Found = CancelledRuns['items'];

/** Newest first, at most so many at once. */
const MOST_RUNS = 1_000;
const SHOWN = 200;
const PER_PAGE = 100;

const STATES = { '': 'Queued and running', queued: 'Only queued', open: 'Only running' } as const;
const ANY_PRIORITY = { '': 'Any', ...Object.fromEntries(PRIORITIES.map((one) => [one, one])) } as Record<
  string,
  string
>;

interface CancelRunsProps {
  /** Of one DAG; without it, of those with a tag that the dialog asks for. */
  readonly dag: string | undefined;
  /** What the list is narrowed to. */
  readonly state: keyof typeof STATES;
}

export function CancelRunsButton(props: CancelRunsProps) {
  return (
    <OpenButton className="button" dialog={(onClose) => <CancelRunsDialog {...props} onClose={onClose} />}>
      Cancel runs …
    </OpenButton>
  );
}

function CancelRunsDialog({ dag, state: shown, onClose }: CancelRunsProps & { readonly onClose: () => void }) {
  const [tag, setTag] = useState('');
  const [state, setState] = useState<keyof typeof STATES>(shown);
  const [priority, setPriority] = useState('');
  const [key, setKey] = useState('');
  const [since, setSince] = useState('');
  const [force, setForce] = useState(false);
  const { tell } = useToasts();
  const filter = {
    ...(dag === undefined ? { tag } : { dag }),
    ...(state === '' ? {} : { state }),
    ...(priority === '' ? {} : { priority }),
    ...(key === '' ? {} : { concurrencyKey: key }),
    ...(since === '' ? {} : { since: new Date(since).toISOString() }),
  } as CancelRuns;
  const preview = usePreview({
    path: '/v1/runs/cancel',
    body: filter,
    ask: (signal) => eachPage({ ...filter, dryRun: true }, signal),
    enabled: dag !== undefined || tag !== '',
  });
  return (
    <FormDialog
      title={dag === undefined ? 'Cancel runs by tag' : `Cancel runs of ${dag}`}
      verb="Cancel the runs"
      keep="Keep them"
      isDangerous
      isReady={(preview.data?.length ?? 0) > 0}
      onClose={onClose}
      change={{
        run: () => eachPage({ ...filter, ...(force ? { force } : {}) }),
        onDone: (done) => tell(resultText(done)),
        touches: ['runs', 'run-pages', 'columns', 'tasks', 'task', 'grid', 'dag', 'dags', 'queues'],
      }}
    >
      <p>No more tasks of these runs start, and running ones are stopped. Then teardowns, undos and hooks run.</p>
      {dag === undefined && <TagField tag={tag} onChange={setTag} />}
      <div className="form-grid">
        <ChoiceField label="Which runs" value={state} choices={STATES} onChange={setState} />
        <ChoiceField label="Priority" value={priority} choices={ANY_PRIORITY} onChange={setPriority} />
        <TextField label="Concurrency key" value={key} onChange={setKey} placeholder="any" />
        <TextField label="Created since" type="datetime-local" value={since} onChange={setSince} />
      </div>
      <CheckField label="Also stop teardowns, undos and hooks" checked={force} onChange={setForce} />
      {preview.error !== null && <Refused error={preview.error} />}
      {preview.data !== undefined && <Preview found={preview.data} withDag={dag === undefined} />}
    </FormDialog>
  );
}

function TagField({ tag, onChange }: { readonly tag: string; readonly onChange: (tag: string) => void }) {
  const tags = useQuery(dagLabelsQuery()).data?.tags ?? [];
  return (
    <ChoiceField
      label="Tag"
      value={tag}
      choices={{ '': 'Choose a tag', ...Object.fromEntries(tags.map(({ name }) => [name, name])) }}
      onChange={onChange}
      hint="Runs of all DAGs with this tag. For those of one DAG, narrow the list to it first."
    />
  );
}

function Preview({ found, withDag }: { readonly found: Found; readonly withDag: boolean }) {
  if (found.length === 0) return <p className="soft">No run fits.</p>;
  return (
    <div className="stack tight">
      <strong>
        {found.length < MOST_RUNS
          ? `It cancels ${plural(found.length, 'run')}.`
          : `It cancels the newest ${count(MOST_RUNS)} runs. Do it again for those that are left.`}
      </strong>
      <ul className="preview">
        {found.slice(0, SHOWN).map(({ run, dag, state }) => (
          <li key={run}>
            <StateIcon state={state} />
            <span className="mono" title={run}>
              {shortId(run)}
            </span>
            <span className="grow truncate small faint">{withDag && dag}</span>
          </li>
        ))}
      </ul>
      {found.length > SHOWN && <p className="faint small">and {plural(found.length - SHOWN, 'more run')}</p>}
    </div>
  );
}

/** The server looks at a page of runs at a time. */
async function eachPage(filter: CancelRuns, signal?: AbortSignal): Promise<Found> {
  const found: Found = [];
  for (let cursor: string | null = ''; cursor !== null && found.length < MOST_RUNS; ) {
    signal?.throwIfAborted();
    const limit = Math.min(PER_PAGE, MOST_RUNS - found.length);
    const body: CancelRuns = { ...filter, limit, ...(cursor === '' ? {} : { cursor }) };
    const page: CancelledRuns = await post<CancelledRuns>('/v1/runs/cancel', body);
    found.push(...page.items);
    cursor = page.cursor;
  }
  return found;
}

/** A run may have ended between the preview and the deed. */
function resultText(done: Found): string {
  const refused = done.filter((one) => one.refused !== null).length;
  const rest = refused === 0 ? '' : ` ${plural(refused, 'run')} had ended already.`;
  return `${plural(done.length - refused, 'run')} cancelled.${rest}`;
}
