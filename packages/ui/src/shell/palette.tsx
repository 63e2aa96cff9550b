/** Ctrl-K: go to any page, dag or run by a few letters of its name. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { runsQuery } from '../api/queries.ts';
import { dagNamesQuery, NO_FILTER } from '../pages/dags/chunks.ts';
import { dagWord } from '../parts/dag-link.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { StateIcon } from '../parts/state.tsx';
import { runState } from '../parts/states.ts';
import { Icon, type IconName } from './icons.tsx';
import { useNav } from './nav.ts';
import { type Entry, search } from './palette-search.ts';
import { setTheme } from './theme.ts';

interface Choice extends Entry {
  readonly key: string;
  readonly state?: string;
  readonly icon?: IconName;
  choose(): void;
}

const MOST = 12;
const RUN_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function Palette({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  const nav = useNav();
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const dags = useQuery(dagNamesQuery(NO_FILTER)).data;
  const runs = useQuery(runsQuery({ limit: 30 })).data?.items;

  const choices = useMemo((): Choice[] => {
    const go = (to: string) => () => void navigate({ to });
    const run = (id: string): Choice => ({
      key: id,
      label: `Run ${id}`,
      hint: 'run',
      icon: 'runs',
      choose: go(`/runs/${id}`),
    });
    return [
      ...(RUN_ID.test(query.trim()) ? [run(query.trim().toLowerCase())] : []),
      ...nav.map(({ to, label, icon }) => ({ key: to, label, hint: 'page', icon, choose: go(to) })),
      ...(dags ?? []).map((name) => ({
        key: `dag ${name}`,
        label: name,
        hint: 'DAG',
        icon: 'dags' as const,
        choose: go(`/dags/${encodeURIComponent(name)}`),
      })),
      ...(runs ?? []).map((one) => ({
        key: one.id,
        label: `${dagWord(one.dag)} ${one.id}`,
        hint: 'run',
        state: runState(one),
        choose: go(`/runs/${one.id}`),
      })),
      ...(['light', 'dark', 'system'] as const).map((theme) => ({
        key: `theme ${theme}`,
        label: `Theme: ${theme}`,
        hint: 'setting',
        icon: 'sun' as const,
        choose: () => setTheme(theme),
      })),
      {
        key: 'docs',
        label: 'API reference',
        hint: 'page',
        icon: 'link',
        choose: () => window.location.assign('/docs'),
      },
    ];
  }, [dags, runs, query, navigate, nav]);
  const found = useMemo(() => search(choices, query, MOST), [choices, query]);
  const selected = found[Math.min(at, found.length - 1)];

  const choose = (choice: Choice | undefined) => {
    onClose();
    choice?.choose();
  };
  return (
    <Dialog title="Go to" onClose={onClose} className="palette" bare>
      <input
        autoFocus
        aria-label="Go to a page, DAG or run"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={selected === undefined ? undefined : 'palette-selected'}
        placeholder="Go to a page, DAG or run …"
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          const steps = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (steps !== undefined) {
            event.preventDefault();
            setAt((known) => (Math.min(known, found.length - 1) + steps + found.length) % Math.max(1, found.length));
          } else if (event.key === 'Enter') choose(selected);
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Found">
        {found.map((choice) => (
          <li
            key={choice.key}
            id={choice === selected ? 'palette-selected' : undefined}
            role="option"
            aria-selected={choice === selected}
            onClick={() => choose(choice)}
            onMouseMove={() => setAt(found.indexOf(choice))}
          >
            {choice.state === undefined ? <Icon name={choice.icon ?? 'more'} /> : <StateIcon state={choice.state} />}
            <span className="truncate">{choice.label}</span>
            <span className="faint small">{choice.hint}</span>
          </li>
        ))}
        {found.length === 0 && <li className="faint">Nothing is called so.</li>}
      </ul>
    </Dialog>
  );
}
