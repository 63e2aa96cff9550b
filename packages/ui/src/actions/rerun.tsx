/** A new run with the params of an earlier one, which may be changed first. */
import type { RerunAnswer, RunSummary } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { post, seg } from '../api/client.ts';
import { dagQuery } from '../api/queries.ts';
import { FormDialog } from '../parts/form-dialog.tsx';
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
  const isSame = JSON.stringify(edited.params) === JSON.stringify(run.params);
  const body = { version: isLatest ? 'latest' : 'same', ...(isSame ? {} : { params: edited.params }) };
  const newest = dag.data?.version;
  return (
    <FormDialog
      title="New run with these params"
      verb="Start run"
      isReady={edited.isValid}
      onClose={onClose}
      change={{
        run: () => post<RerunAnswer>(`/v1/runs/${seg(run.id)}/rerun`, body),
        onDone: ({ id }) => void navigate({ to: '/runs/$id', params: { id } }),
        touches: ['runs', 'run-pages', 'grid', 'dag'],
      }}
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
    </FormDialog>
  );
}
