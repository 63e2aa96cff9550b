/** The frame around every page: where to go, whether what is shown is fresh, who is signed in. */
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { post, whenSignedOut } from '../api/client.ts';
import { breakersQuery, deadLetterGroupsQuery } from '../api/queries.ts';
import { useSession } from '../api/session.tsx';
import { useLive } from '../live/live.tsx';
import { actorName, count, fromNow } from '../parts/format.ts';
import { useNow } from '../parts/now.tsx';
import { useToasts } from '../parts/toasts.tsx';
import { Help } from './help.tsx';
import { Icon, Mark } from './icons.tsx';
import { isWriting, useKey } from './keys.ts';
import { useNav } from './nav.ts';
import { Palette } from './palette.tsx';
import { setTheme, type Theme, useTheme } from './theme.ts';

const AFTER_G_MS = 1_200;

export function Layout() {
  const [isSignedOut, setSignedOut] = useState(false);
  const [open, setOpen] = useState<'palette' | 'help' | 'menu' | null>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const close = () => setOpen(null);
  useEffect(() => whenSignedOut(() => setSignedOut(true)), []);
  useEffect(() => setOpen(null), [path]);
  useKey('mod+k', () => setOpen('palette'));
  useKey('?', () => setOpen('help'));
  useKey('/', () => document.querySelector<HTMLInputElement>('input[type=search]')?.focus());
  useGoKeys();
  if (isSignedOut) return <SignedOut />;
  return (
    <div className="shell">
      <header className="top">
        <Link to="/" className="brand">
          <Mark /> Signalbox
        </Link>
        <button type="button" className="button quiet icon" aria-label="Go to" onClick={() => setOpen('palette')}>
          <Icon name="search" />
        </button>
        <button
          type="button"
          className="button quiet icon"
          aria-label="Menu"
          aria-expanded={open === 'menu'}
          onClick={() => setOpen(open === 'menu' ? null : 'menu')}
        >
          <Icon name="menu" />
        </button>
      </header>
      <Side isOpen={open === 'menu'} onFind={() => setOpen('palette')} path={path} />
      <div className="main">
        <StaleMark />
        <Outlet />
      </div>
      {open === 'palette' && <Palette onClose={close} />}
      {open === 'help' && <Help onClose={close} />}
    </div>
  );
}

/** `g` and then a letter goes to a page. */
function useGoKeys(): void {
  const navigate = useNavigate();
  const nav = useNav();
  const pressedAt = useRef(0);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (isWriting(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      const isSecond = performance.now() - pressedAt.current < AFTER_G_MS;
      pressedAt.current = event.key === 'g' ? performance.now() : 0;
      const entry = isSecond ? nav.find(({ key }) => key === event.key) : undefined;
      if (entry !== undefined && document.querySelector('dialog[open]') === null) void navigate({ to: entry.to });
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [navigate, nav]);
}

interface SideProps {
  readonly isOpen: boolean;
  readonly path: string;
  readonly onFind: () => void;
}

function Side({ isOpen, path, onFind }: SideProps) {
  const letters = useQuery(deadLetterGroupsQuery()).data?.items.reduce((sum, group) => sum + group.count, 0) ?? 0;
  const breakers = useQuery(breakersQuery()).data?.items.filter(({ state }) => state === 'open').length ?? 0;
  const nav = useNav();
  const counts: Readonly<Record<string, number>> = { '/dead-letters': letters, '/breakers': breakers };
  return (
    <aside className={isOpen ? 'side open' : 'side'}>
      <Link to="/" className="brand">
        <Mark /> Signalbox
      </Link>
      <button type="button" className="find" onClick={onFind}>
        <Icon name="search" size={14} />
        <span>Go to …</span>
        <kbd>Ctrl K</kbd>
      </button>
      <nav className="nav" aria-label="Pages">
        {nav.map(({ to, label, icon, group }) => (
          <div key={to}>
            {group !== undefined && <div className="group">{group}</div>}
            <Link to={to} aria-current={(to === '/' ? path === '/' : path.startsWith(to)) ? 'page' : undefined}>
              <Icon name={icon} />
              {label}
              {(counts[to] ?? 0) > 0 && <span className="chip bad">{count(counts[to] ?? 0)}</span>}
            </Link>
          </div>
        ))}
      </nav>
      <SideFoot />
    </aside>
  );
}

const THEMES: Readonly<Record<Theme, { readonly next: Theme; readonly icon: 'auto' | 'sun' | 'moon' }>> = {
  system: { next: 'light', icon: 'auto' },
  light: { next: 'dark', icon: 'sun' },
  dark: { next: 'system', icon: 'moon' },
};

function SideFoot() {
  const session = useSession();
  const { state } = useLive();
  const theme = useTheme();
  const { fail } = useToasts();
  const { next, icon } = THEMES[theme];
  const signOut = () => void post('/v1/session/end').then(() => window.location.reload(), fail);
  return (
    <div className="side-foot">
      <div className={`live ${state}`}>
        <i aria-hidden="true" />
        {state === 'live' ? 'Live' : state === 'connecting' ? 'Connecting …' : 'No connection'}
        <button
          type="button"
          className="button quiet icon small"
          style={{ marginLeft: 'auto' }}
          title={`Theme: ${theme}. Click for ${next}.`}
          aria-label={`Theme: ${theme}. Change to ${next}`}
          onClick={() => setTheme(next)}
        >
          <Icon name={icon} size={14} />
        </button>
      </div>
      {session !== undefined && (
        <div className="row">
          <span className="grow truncate" title={`${actorName(session.actor)}, tenant ${session.tenant}`}>
            Role: {session.role}
          </span>
          {session.browser && (
            <button type="button" className="button quiet small" onClick={signOut}>
              Sign out
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function StaleMark() {
  const { staleSince } = useLive();
  const now = useNow();
  if (staleSince === null) return null;
  return (
    <div className="stale" role="status">
      The server does not answer. What you see is from {fromNow(staleSince, now)}; the page tries again by itself.
    </div>
  );
}

function SignedOut() {
  return (
    <main className="center-page">
      <h1>Your session has ended.</h1>
      <p>
        Run <code>signalbox login</code> and open the link that it prints. It works once.
      </p>
    </main>
  );
}
