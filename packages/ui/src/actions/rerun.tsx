/** A new run with the params of an earlier one, which may be changed first. */
import type { RerunAnswer, RunSummary } from '@signalbox/protocol';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { post, seg } from '../api/client.ts';
import { dagQuery } from '../api/queries.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Explained } from '../parts/toasts.tsx';
import { type EditedParams, ParamsEditor } from '../trigger/params-editor.tsx';

interface RerunProps {
  readonly run: RunSummary & { readonly params: unknown };
  readonly onClose: () => void;
}

export function RerunDialog({ run, onClose }: RerunProps) {
  const navigate = useNavigate();
  const dag = useQuery(dagQuery(run.dag));
  const [edited, setEdited] = useState<EditedParams>({ params: run.params, isValid: true });
  const [isLatest, setLatest] = useState(true);
  const submit = useMutation({
    mutationFn: () => {
      const isSame = JSON.stringify(edited.params) === JSON.stringify(run.params);
      return post<RerunAnswer>(`/v1/runs/${seg(run.id)}/rerun`, {
        version: isLatest ? 'latest' : 'same',
        ...(isSame ? {} : { params: edited.params }),
      });
    },
    onSuccess: ({ id }) => {
      onClose();
      void navigate({ to: '/runs/$id', params: { id } });
    },
  });
  const newest = dag.data?.version;
  return (
    <Dialog
      title="New run with these params"
      onClose={onClose}
      foot={
        <>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="button"
            className="button primary"
            disabled={!edited.isValid || submit.isPending}
            onClick={() => submit.mutate()}
          >
            Start run
          </button>
        </>
      }
    >
      {newest !== undefined && newest !== run.version && (
        <label className="check">
          <input type="checkbox" checked={isLatest} onChange={(event) => setLatest(event.target.checked)} />
          With the newest version ({newest}) instead of version {run.version}
        </label>
      )}
      {dag.isPending ? (
        <p className="loading">Loading …</p>
      ) : (
        <ParamsEditor schema={dag.data?.params ?? null} initial={run.params} onChange={setEdited} />
      )}
      {submit.error !== null && (
        <div className="notice bad" role="alert">
          <Explained error={submit.error} />
        </div>
      )}
    </Dialog>
  );
}
