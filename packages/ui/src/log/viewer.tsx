/** A log to read: live, searchable, and as long as it likes, because only the lines in sight are in the page. */
import { type MouseEvent, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useSearchState } from '../api/search-state.ts';
import { allZones, count, plural } from '../parts/format.ts';
import { Icon } from '../shell/icons.tsx';
import { plainOf } from './ansi.ts';
import { LogRow } from './line-view.tsx';
import { findFrom, type Line, wordsOf } from './lines.ts';
import { useLineRows } from './use-line-rows.ts';
import { useLog } from './use-log.ts';
import { useFolding, useScan } from './use-walk.ts';
import './log.css';

interface ViewerProps {
  readonly path: string;
  /** Where the whole text can be had. */
  readonly download?: string | undefined;
  readonly withTask?: boolean;
  /** Shown in place of an empty log. */
  readonly empty: ReactNode;
}

/** Above and below the lines, and a scroll bar. */
const LINES_PADDING = 28;

export function LogViewer({ path, download, withTask = false, empty }: ViewerProps) {
  const log = useLog(path);
  const { lines, version } = log;
  const [scroller, setScroller] = useState<HTMLDivElement | null>(null);
  const [{ find: query = '', fold, wrap, line, times }, change] = useSearchState();
  // Counted from 1. A link to a line shows that line.
  const marked = line !== undefined && /^[1-9]\d{0,8}$/.test(line) ? Number(line) - 1 : null;
  const [isFollowing, setFollowing] = useState(marked === null);
  const isWrapped = wrap === 'on';
  const isFolded = fold === 'on';
  const isTimed = times === 'on';
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const folding = useFolding(lines, version, isFolded, open);
  const rowCount = folding?.shown.length ?? lines.length;
  const leaveEnd = useCallback(() => setFollowing(false), []);
  const {
    height,
    rows,
    goTo: scrollTo,
    measure,
  } = useLineRows({ scroller, count: rowCount, isWrapped, isFollowing, onLeave: leaveEnd });

  // Once, when it has arrived: then the reader scrolls.
  const awaited = useRef(marked);
  useEffect(() => {
    const at = awaited.current;
    if (at === null || at >= lines.length || version === 0) return;
    awaited.current = null;
    scrollTo(folding?.rowOf(at) ?? at, 'center');
  }, [lines, version, folding, scrollTo]);

  const wanted = query.toLowerCase();
  const matches = useMemo(
    () => (wanted === '' ? null : (line: Line) => plainOf(wordsOf(line).text).toLowerCase().includes(wanted)),
    [wanted],
  );
  const found = useScan(lines, version, matches);
  const goTo = (at: number | null) => {
    if (at === null) return;
    setFollowing(false);
    change({ line: String(at + 1) });
    scrollTo(folding?.rowOf(at) ?? at, 'center');
  };
  const next = (step: 1 | -1) =>
    matches !== null && goTo(findFrom(lines, (marked ?? (step === 1 ? -1 : 0)) + step, step, matches));
  const firstError = lines.firstBad;
  const mark = useCallback(
    (index: number) => change({ line: index === marked ? undefined : String(index + 1) }),
    [change, marked],
  );
  const toggle = useCallback((index: number) => setOpen((known) => toggled(known, index)), []);
  // Made when somebody points at a line: made for each line that passes, it would be a third of the work.
  const tellTime = ({ target }: MouseEvent) => {
    const text = target instanceof Element ? target.closest('.log-text') : null;
    const row = text?.parentElement?.dataset.index;
    if (!(text instanceof HTMLElement) || row === undefined) return;
    const line = lines.at(folding?.shown[Number(row)] ?? Number(row));
    if (line !== undefined) text.title = allZones(line.at);
  };

  return (
    <section className="card log">
      <div className="card-head">
        <input
          type="search"
          className="search"
          placeholder="Search the log  /"
          aria-label="Search the log"
          value={query}
          onChange={(event) => change({ find: event.target.value })}
          onKeyDown={(event) => event.key === 'Enter' && next(event.shiftKey ? -1 : 1)}
        />
        {found !== null && (
          <>
            <span className="small faint nowrap">
              {plural(found.count, 'line')}
              {found.isDone ? '' : ' so far'}
            </span>
            <button type="button" className="button small icon" aria-label="Previous match" onClick={() => next(-1)}>
              ↑
            </button>
            <button type="button" className="button small icon" aria-label="Next match" onClick={() => next(1)}>
              ↓
            </button>
          </>
        )}
        <span className="grow" />
        {firstError !== null && (
          <button type="button" className="button small" onClick={() => goTo(firstError)}>
            First error
          </button>
        )}
        <button
          type="button"
          className="button small"
          aria-pressed={isFolded}
          title="Hides stack traces and indented lines behind the line that they belong to"
          onClick={() => change({ fold: isFolded ? undefined : 'on' })}
        >
          {isFolded ? 'Unfold' : 'Fold'}
        </button>
        <button
          type="button"
          className="button small"
          aria-pressed={isWrapped}
          onClick={() => change({ wrap: isWrapped ? undefined : 'on' })}
        >
          {isWrapped ? 'One line each' : 'Wrap'}
        </button>
        {!withTask && (
          <button
            type="button"
            className="button small"
            aria-pressed={isTimed}
            onClick={() => change({ times: isTimed ? undefined : 'on' })}
          >
            Times
          </button>
        )}
        {!log.isOver && (
          <button
            type="button"
            className="button small"
            aria-pressed={isFollowing}
            onClick={() => setFollowing(!isFollowing)}
          >
            {isFollowing ? 'Following' : 'Follow'}
          </button>
        )}
        {download !== undefined && (
          <a className="button small" href={download} download>
            <Icon name="download" size={13} /> Download
          </a>
        )}
      </div>
      {log.missing.length > 0 && (
        <div className="notice warn">Lines may be missing: {log.missing.join(', ')} did not answer.</div>
      )}
      {log.isCut && (
        <div className="notice warn">
          Only the first {count(lines.length)} lines are shown. Download the log for the rest.
        </div>
      )}
      {lines.length === 0 ? (
        <div className="empty">
          {log.isOver ? empty : log.isConnected ? 'Nothing has been written yet.' : 'Loading …'}
        </div>
      ) : (
        <div
          ref={setScroller}
          className={isWrapped ? 'log-lines wrapped' : 'log-lines'}
          style={{ height: height + LINES_PADDING }}
          role="log"
          aria-label="Lines of the log"
          tabIndex={0}
          onWheel={(event) => event.deltaY < 0 && setFollowing(false)}
          onMouseOver={tellTime}
        >
          <div style={{ height, position: 'relative' }}>
            {rows.map(({ index: row, start, key }) => {
              const index = folding?.shown[row] ?? row;
              return (
                <LogRow
                  key={key}
                  lines={lines}
                  index={index}
                  row={row}
                  start={start}
                  wanted={wanted}
                  withTask={withTask}
                  withTime={isTimed}
                  isMarked={index === marked}
                  hidden={folding?.sizes.get(index)}
                  isOpen={open.has(index)}
                  measure={measure}
                  onMark={mark}
                  onToggle={toggle}
                />
              );
            })}
          </div>
        </div>
      )}
      <div className="card-foot small faint row">
        {plural(lines.length, 'line')}
        {log.isOver ? ', complete' : log.isConnected ? ', live' : ', connecting …'}
      </div>
    </section>
  );
}

function toggled(open: ReadonlySet<number>, index: number): ReadonlySet<number> {
  const next = new Set(open);
  if (!next.delete(index)) next.add(index);
  return next;
}
