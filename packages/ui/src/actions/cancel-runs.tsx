/** Cancels the runs that fit a filter, after a preview: for a loop of submissions, or a queue that nobody wants any more. */
import type { CancelledRuns } from '@signalbox/protocol';
import { useState } from 'react';
import { CheckField } from '../parts/field.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { useToasts } from '../parts/toasts.tsx';
import { Refused } from './change.tsx';
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

type Cancelled = CancelledRuns['items'][number];
const PATH = '/v1/runs/cancel';

export function CancelRunsDialog({ dag, state, onClose }: ManyRunsProps & { readonly onClose: () => void }) {
  const [chosen, setChosen] = useState(() => chosenAtFirst(state));
  const [force, setForce] = useState(false);
  const { tell } = useToasts();
  const filter = filterOf(dag, chosen);
  const preview = usePreview({
    path: PATH,
    body: filter,
    ask: (signal) => eachPage<Cancelled>(PATH, { ...filter, dryRun: true }, signal),
    enabled: dag !== undefined || chosen.tag !== '',
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
        run: () => eachPage<Cancelled>(PATH, { ...filter, ...(force ? { force } : {}) }),
        onDone: (done) => tell(resultText(done, 'cancelled')),
        touches: TOUCHED_BY_MANY,
      }}
    >
      <p>No more tasks of these runs start, and running ones are stopped. Then teardowns, undos and hooks run.</p>
      <RunFilterFields dag={dag} chosen={chosen} onChange={setChosen} />
      <CheckField label="Also stop teardowns, undos and hooks" checked={force} onChange={setForce} />
      {preview.error !== null && <Refused error={preview.error} />}
      {preview.data !== undefined && <RunsPreview found={preview.data} withDag={dag === undefined} deed="It cancels" />}
    </FormDialog>
  );
}
