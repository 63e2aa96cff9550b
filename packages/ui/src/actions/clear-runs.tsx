/** Runs the failed tasks of many runs of a dag again, after a preview: for a cause that broke a night, not a run. */
import type { ClearedRuns } from '@signalbox/protocol';
import { useState } from 'react';
import { post, seg } from '../api/client.ts';
import { TextField } from '../parts/field.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { plural, shortId } from '../parts/format.ts';
import { useToasts } from '../parts/toasts.tsx';
import { Refused } from './change.tsx';
import { usePreview } from './preview.ts';

/** Newest first, at most so many. */
const MOST_RUNS = 100;

interface ClearRunsProps {
  readonly dag: string;
  readonly onClose: () => void;
}

export function ClearRunsDialog({ dag, onClose }: ClearRunsProps) {
  const [since, setSince] = useState('');
  const { tell } = useToasts();
  const path = `/v1/dags/${seg(dag)}/clear`;
  const from = since === '' ? {} : { since: new Date(since).toISOString() };
  const body = { states: ['failed', 'upstream_failed'], outcome: 'failed', limit: MOST_RUNS, ...from };
  const preview = usePreview({ path, body, ask: () => post<ClearedRuns>(path, { ...body, dryRun: true }) });
  const found = preview.data?.items.filter(({ count }) => count > 0) ?? [];
  return (
    <FormDialog
      title={`Rerun failed tasks of ${dag}`}
      verb="Rerun them"
      isReady={found.length > 0}
      onClose={onClose}
      change={{
        run: () => post<ClearedRuns>(path, body),
        onDone: ({ items }) => tell(`${plural(items.filter(({ count }) => count > 0).length, 'run')} go on.`),
        touches: ['runs', 'run-pages', 'columns', 'tasks', 'task', 'grid', 'dag', 'dead-letter-groups', 'dead-letters'],
      }}
    >
      <p>What failed runs again in its run, with everything downstream. What succeeded stays.</p>
      <TextField
        label="Only runs created since"
        type="datetime-local"
        value={since}
        onChange={setSince}
        hint={`Empty: the newest ${MOST_RUNS} runs that failed.`}
      />
      {preview.error !== null && <Refused error={preview.error} />}
      {preview.data !== undefined && <Preview items={preview.data.items} />}
    </FormDialog>
  );
}

function Preview({ items }: { readonly items: ClearedRuns['items'] }) {
  if (items.length === 0) return <p className="soft">No run failed in that time.</p>;
  const tasks = items.reduce((sum, { count }) => sum + count, 0);
  return (
    <div className="stack tight">
      <strong>
        It touches {plural(tasks, 'task')} in {plural(items.filter(({ count }) => count > 0).length, 'run')}.
      </strong>
      <ul className="preview">
        {items.map(({ run, count, refused }) => (
          <li key={run}>
            <span className="grow mono" title={run}>
              {shortId(run)}
            </span>
            <span className={refused === null ? 'small faint' : 'small tone-bad'}>
              {refused ?? plural(count, 'task')}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
