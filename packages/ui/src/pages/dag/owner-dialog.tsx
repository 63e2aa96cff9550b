/** Sets who answers for a dag. */
import type { DagOwner } from '@signalbox/protocol';
import { useState } from 'react';
import { put, seg } from '../../api/client.ts';
import { TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';

interface OwnerDialogProps {
  readonly dag: string;
  readonly owner: string | null;
  readonly onClose: () => void;
}

export function OwnerDialog({ dag, owner, onClose }: OwnerDialogProps) {
  const [text, setText] = useState(owner ?? '');
  const wanted = text.trim() === '' ? null : text.trim();
  return (
    <FormDialog
      title={`Owner of ${dag}`}
      verb="Save"
      onClose={onClose}
      change={{
        run: () => put<DagOwner>(`/v1/dags/${seg(dag)}/owner`, { owner: wanted }),
        done: wanted === null ? `${dag} has the owner of its definition.` : `${dag} belongs to ${wanted}.`,
        touches: ['dag', 'dags', 'dag-labels'],
      }}
    >
      <TextField
        label="Owner"
        value={text}
        onChange={setText}
        placeholder="team-data"
        hint="Goes before the owner of the definition, and stays when the DAG is deployed. Empty: that of the definition."
      />
    </FormDialog>
  );
}
