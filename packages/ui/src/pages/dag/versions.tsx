import { useQuery } from '@tanstack/react-query';
import { versionQuery, versionsQuery } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { actorName } from '../../parts/format.ts';
import { Ago } from '../../parts/now.tsx';
import { Card, Empty, Loaded } from '../../parts/page.tsx';
import { CodeDiff } from './code-diff.tsx';
import { differencesOf } from './version-diff.ts';

export function Versions({ dag }: { readonly dag: string }) {
  const versions = useQuery(versionsQuery(dag));
  const [{ version }, change] = useSearchState();
  return (
    <Loaded query={versions}>
      {({ items }) => {
        const chosen = version === undefined ? items[0]?.version : Number(version);
        const before = items.find((one) => one.version < (chosen ?? 0))?.version;
        return (
          <div className="columns">
            <div className="stack">
              <Card title="What changed">
                {chosen === undefined || before === undefined ? (
                  <Empty title="This is the first version." />
                ) : (
                  <Differences dag={dag} before={before} after={chosen} />
                )}
              </Card>
              {chosen !== undefined && before !== undefined && <Code dag={dag} before={before} after={chosen} />}
            </div>
            <Card title="Versions" flush>
              <ul className="rows">
                {items.map((one) => (
                  <li key={one.version}>
                    <button
                      type="button"
                      className={one.version === chosen ? 'row-button selected' : 'row-button'}
                      aria-pressed={one.version === chosen}
                      onClick={() => change({ version: String(one.version) })}
                    >
                      <span className="grow">
                        <b>Version {one.version}</b>
                        <span className="small faint">
                          {actorName(one.actor)}, <Ago at={one.deployedAt} />
                        </span>
                      </span>
                      {one.current && <span className="chip ok">current</span>}
                    </button>
                  </li>
                ))}
              </ul>
            </Card>
          </div>
        );
      }}
    </Loaded>
  );
}

/** Absent where no code changed. */
function Code({ dag, before, after }: { readonly dag: string; readonly before: number; readonly after: number }) {
  const old = useQuery(versionQuery(dag, before)).data;
  const now = useQuery(versionQuery(dag, after)).data;
  if (old === undefined || now === undefined || old.bundle === now.bundle) return null;
  return <CodeDiff before={old.bundle} after={now.bundle} />;
}

function Differences({
  dag,
  before,
  after,
}: {
  readonly dag: string;
  readonly before: number;
  readonly after: number;
}) {
  const old = useQuery(versionQuery(dag, before)).data;
  const now = useQuery(versionQuery(dag, after)).data;
  if (old === undefined || now === undefined) return <div className="loading">Loading …</div>;
  const differences = differencesOf(old, now);
  return (
    <div className="stack tight">
      <p className="soft">
        From version {before} to version {after}:
      </p>
      {differences.length === 0 ? (
        <p>The definition is the same in what this page shows.</p>
      ) : (
        <ul className="differences">
          {differences.map(({ subject, text }) => (
            <li key={`${subject} ${text}`}>
              <b>{subject}</b>: {text}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
