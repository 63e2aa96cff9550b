/** How the code of a dag's functions changed from one version to another, file by file. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type SourceFile, sourcesQuery } from '../../api/sources.ts';
import { Card, Failed } from '../../parts/page.tsx';
import { visible } from '../../parts/visible.ts';
import { diffLines, hunksOf } from './line-diff.ts';

interface CodeDiffProps {
  readonly before: string | null;
  readonly after: string | null;
}

export function CodeDiff({ before, after }: CodeDiffProps) {
  const old = useQuery(sourcesQuery(before));
  const now = useQuery(sourcesQuery(after));
  const files = useMemo(() => changedFiles(old.data ?? [], now.data ?? []), [old.data, now.data]);
  const error = old.error ?? now.error;
  if (error !== null) return <Failed error={error} />;
  if (old.data === undefined || now.data === undefined) return <div className="loading">Loading …</div>;
  return (
    <>
      {files.map(({ name, before: was, after: is }) => (
        <FileDiff key={name} name={name} before={was} after={is} />
      ))}
    </>
  );
}

interface ChangedFile {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

function changedFiles(old: readonly SourceFile[], now: readonly SourceFile[]): ChangedFile[] {
  const before = new Map(old.map(({ name, text }) => [name, text]));
  const after = new Map(now.map(({ name, text }) => [name, text]));
  return [...new Set([...after.keys(), ...before.keys()])]
    .map((name) => ({ name, before: before.get(name) ?? '', after: after.get(name) ?? '' }))
    .filter((file) => file.before !== file.after);
}

const SIGNS = { same: ' ', added: '+', removed: '−' } as const;

function FileDiff({ name, before, after }: ChangedFile) {
  const lines = useMemo(() => hunksOf(diffLines(before, after)), [before, after]);
  return (
    <Card title={<span className="mono">{name}</span>} flush>
      <div className="code diff" tabIndex={0} role="region" aria-label={`Changes of ${name}`}>
        {lines.map((line, at) =>
          line === null ? (
            // Lines of a diff never move.
            <div key={`gap ${at}`} className="diff-gap">
              …
            </div>
          ) : (
            <div key={`${line.kind} ${line.no}`} className={`diff-${line.kind}`}>
              <span className="diff-no">{line.no}</span>
              <span className="diff-sign">{SIGNS[line.kind]}</span>
              {visible(line.text)}
            </div>
          ),
        )}
      </div>
    </Card>
  );
}
