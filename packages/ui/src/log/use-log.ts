/** Reads a log from its first line and follows it while it is written. The page is told a few times a second. */
import { useEffect, useRef, useState } from 'react';
import { LiveStream } from '../live/stream.ts';
import type { Line } from './lines.ts';

export interface ReadLog {
  readonly lines: readonly Line[];
  /** Grows with each change of `lines`, which is one and the same list. */
  readonly version: number;
  readonly isOver: boolean;
  readonly isCut: boolean;
  /** Servers that may have lines and did not answer. */
  readonly missing: readonly string[];
  readonly isConnected: boolean;
}

const TELL_MS = 120;
/** More than this is for the download. A page of 19 pixels a line can be no higher in Chromium. */
const MOST_LINES = 1_700_000;

const EMPTY: ReadLog = { lines: [], version: 0, isOver: false, isCut: false, missing: [], isConnected: false };

export function useLog(path: string): ReadLog {
  const [log, setLog] = useState<ReadLog>(EMPTY);
  const version = useRef(0);
  useEffect(() => {
    const lines: Line[] = [];
    let isOver = false;
    let isCut = false;
    let isConnected = false;
    let missing: readonly string[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tell = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        version.current += 1;
        setLog({ lines, version: version.current, isOver, isCut, missing, isConnected });
      }, TELL_MS);
    };
    const stream = new LiveStream({
      path: `${path}${path.includes('?') ? '&' : '?'}follow=true`,
      onFrame({ event, data }) {
        if (data === null) return;
        if (event === 'end') {
          isOver = true;
          missing = (JSON.parse(data) as { missing?: readonly string[] }).missing ?? [];
          stream.stop();
        } else if (lines.length < MOST_LINES) lines.push(JSON.parse(data) as Line);
        else {
          isCut = true;
          stream.stop();
        }
        tell();
      },
      onState(state) {
        isConnected = state === 'live';
        tell();
      },
      onGap: () => undefined,
    });
    setLog(EMPTY);
    void stream.run();
    return () => {
      stream.stop();
      clearTimeout(timer);
    };
  }, [path]);
  return log;
}
