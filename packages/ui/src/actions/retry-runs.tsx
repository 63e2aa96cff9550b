/** Retries the failed runs that fit a filter, after a preview: for a cause that broke a night, not a run. */
import type { RetriedRuns } from '@signalbox/protocol';
import { useState } from 'react';
import { FormDialog } from '../parts/form-dialog.tsx';
import { plural } from '../parts/format.ts';
import { useToasts } from '../parts/toasts.tsx';
import { Refused } from './change.tsx';
import { usePreview } from './preview.ts';
import {
  chosenAtFirst,
  eachPage,
  filterOf,
  RunFilterFields,
  RunsPreview,
  resultText,
  TOUCHED_BY_MANY,
} from './runs-by-filter.tsx';

type Retried = RetriedRuns['items'][number];
const PATH = '/v1/runs/retry';

interface RetryRunsProps {
  /** Of one DAG; without it, of those with a tag that the dialog asks for. */
  readonly dag: string | undefined;
  readonly onClose: () => void;
}

/** The list has only failed runs. */
const withState = (one: Retried) => ({ ...one, state: 'failed' });

export function RetryRunsDialog({ dag, onClose }: RetryRunsProps) {
  const [chosen, setChosen] = useState(() => chosenAtFirst(''));
  const { tell } = useToasts();
  const filter = filterOf(dag, chosen);
  const preview = usePreview({
    path: PATH,
    body: filter,
    ask: (signal) => eachPage<Retried>(PATH, { ...filter, dryRun: true }, signal),
    enabled: dag !== undefined || chosen.tag !== '',
  });
  const isRetried = ({ count }: Retried) => count > 0;
  return (
    <FormDialog
      title={dag === undefined ? 'Retry failed runs by tag' : `Retry failed runs of ${dag}`}
      verb="Retry the runs"
      isReady={preview.data?.some(isRetried) === true}
      onClose={onClose}
      change={{
        run: () => eachPage<Retried>(PATH, filter),
        onDone: (done) => tell(resultText(done.map(withState), 'retried')),
        touches: [...TOUCHED_BY_MANY, 'dead-letter-groups', 'dead-letters'],
      }}
    >
      <p>What failed runs again in its run, with everything downstream. What succeeded stays.</p>
      <RunFilterFields dag={dag} chosen={chosen} onChange={setChosen} hasState={false} />
      {preview.error !== null && <Refused error={preview.error} />}
      {preview.data !== undefined && <Preview found={preview.data} withDag={dag === undefined} />}
    </FormDialog>
  );
}

function Preview({ found, withDag }: { readonly found: readonly Retried[]; readonly withDag: boolean }) {
  const touched = found.filter(({ count }) => count > 0);
  const refused = found.filter((one) => one.refused !== null);
  const tasks = touched.reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      <RunsPreview
        found={touched.map(withState)}
        withDag={withDag}
        deed={`It runs ${plural(tasks, 'task')} again in`}
        none="No failed run fits."
        note={({ count }) => plural(count, 'task')}
      />
      {refused.length > 0 && (
        <p className="small soft">
          {plural(refused.length, 'run')} cannot be retried: {refused[0]?.refused}
        </p>
      )}
    </>
  );
}
