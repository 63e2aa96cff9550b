/** Replays or discards a group of dead letters, after a preview. They are used in portions of a hundred. */
import type { DeadLettersUsed } from '@signalbox/protocol';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { plural } from '../../parts/format.ts';
import { Explained, useToasts } from '../../parts/toasts.tsx';

export interface DeadLetterFilter {
  readonly [name: string]: string | undefined;
  readonly dag?: string;
  readonly fingerprint?: string;
}

interface UseDialogProps {
  readonly kind: 'replay' | 'discard';
  readonly filter: DeadLetterFilter;
  readonly onClose: () => void;
}

const MOST_PORTIONS = 1_000;

export function UseDialog({ kind, filter, onClose }: UseDialogProps) {
  const client = useQueryClient();
  const { tell } = useToasts();
  const [isLatest, setLatest] = useState(false);
  const [done, setDone] = useState(0);
  const path = `/v1/dead-letters/${kind}`;
  const body = { ...filter, ...(kind === 'replay' ? { latest: isLatest } : {}) };
  const preview = useQuery({
    queryKey: ['letters-preview', path, body],
    queryFn: () => post<DeadLettersUsed>(path, { ...body, dryRun: true }),
    retry: false,
    gcTime: 0,
  });
  const use = useMutation({
    mutationFn: async () => {
      let cursor: string | null = null;
      let used = 0;
      const refused: DeadLettersUsed['refused'] = [];
      for (let portion = 0; portion < MOST_PORTIONS; portion++) {
        const answer: DeadLettersUsed = await post<DeadLettersUsed>(path, {
          ...body,
          ...(cursor === null ? {} : { cursor }),
        });
        used += answer.count;
        refused.push(...answer.refused);
        setDone(used);
        cursor = answer.cursor;
        if (cursor === null) break;
      }
      return { used, refused };
    },
    onSuccess: async ({ used, refused }) => {
      const left =
        refused.length === 0
          ? ''
          : ` ${plural(refused.length, 'letter')} could not be used: ${refused[0]?.message ?? ''}`;
      tell(`${plural(used, 'dead letter')} ${kind === 'replay' ? 'replayed' : 'discarded'}.${left}`);
      onClose();
      await client.invalidateQueries();
    },
  });
  const verb = kind === 'replay' ? 'Replay' : 'Discard';
  return (
    <Dialog
      title={`${verb} dead letters`}
      onClose={onClose}
      foot={
        <>
          <button type="button" className="button" onClick={onClose}>
            Close
          </button>
          <button
            type="button"
            className={kind === 'discard' ? 'button danger primary' : 'button primary'}
            disabled={(preview.data?.count ?? 0) === 0 || use.isPending}
            onClick={() => use.mutate()}
          >
            {use.isPending ? `${done} done …` : verb}
          </button>
        </>
      }
    >
      <p>
        {kind === 'replay'
          ? 'Each task gets a new budget of attempts in its run, and what it kept from running may run.'
          : 'They are closed for good. Their runs stay as they are.'}
      </p>
      {kind === 'replay' && (
        <label className="check">
          <input type="checkbox" checked={isLatest} onChange={(event) => setLatest(event.target.checked)} />
          As new runs of the newest version, with the same params
        </label>
      )}
      {preview.data !== undefined && (
        <div className="stack tight">
          <strong>{plural(preview.data.count, 'dead letter')}</strong>
          <ul className="preview">
            {preview.data.dags.map(({ dag, letters, runs, newRuns }) => (
              <li key={dag}>
                <span className="grow">{dag}</span>
                <span className="faint">
                  {plural(letters, 'task')}
                  {runs > 0 && ` in ${plural(runs, 'run')}`}
                  {newRuns > 0 && `, ${plural(newRuns, 'new run')}`}
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
      {(preview.error ?? use.error) !== null && (
        <div className="notice bad" role="alert">
          <Explained error={preview.error ?? use.error} />
        </div>
      )}
    </Dialog>
  );
}
