/** Why an attempt went to its worker, and why then. Read when somebody opens it. */
import type { DecisionFacts, DecisionView } from '@signalbox/protocol';
import { shownAmount } from '@signalbox/protocol/words';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { decisionsQuery } from '../../api/queries.ts';
import { Loaded } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Linked } from '../../parts/why-text.tsx';

interface DecisionProps {
  readonly runId: string;
  readonly task: string;
  readonly attempt: number;
}

export function Decision({ runId, task, attempt }: DecisionProps) {
  const [isOpen, setOpen] = useState(false);
  const decisions = useQuery({ ...decisionsQuery(runId, task), enabled: isOpen });
  return (
    <details className="more-fields" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Why this worker, and why then?</summary>
      {isOpen && (
        <Loaded query={decisions}>
          {({ items }) => <Found decisions={items.filter((one) => one.attempt === attempt)} />}
        </Loaded>
      )}
    </details>
  );
}

function Found({ decisions }: { readonly decisions: readonly DecisionView[] }) {
  if (decisions.length === 0) return <p className="faint">Nothing is known of it.</p>;
  return decisions.map(({ message, known }, at) => (
    // A claim that did not arrive was made again, with the same number.
    <div key={at}>
      <p>
        <Linked text={message} />
      </p>
      {known !== null && known.candidates.length > 1 && (
        <Table rows={known.candidates} keyOf={(one) => String(known.candidates.indexOf(one))} columns={COLUMNS} />
      )}
    </div>
  ));
}

type Candidate = DecisionFacts['candidates'][number];

const COLUMNS: readonly Column<Candidate>[] = [
  { head: 'Worker', cell: ({ name }) => name ?? <span className="faint">of the fleet</span> },
  { head: 'Score', title: () => 'The lower, the better', cell: ({ score }) => score ?? 'its turn' },
  { head: 'Free slots', cell: ({ slots }) => slots },
  {
    head: 'Free resources',
    cell: ({ room }) =>
      Object.entries(room)
        .map(([name, amount]) => shownAmount(name, amount))
        .join(', '),
  },
];
