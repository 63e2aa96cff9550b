/** Reads a log from its first line and follows it while it is written. The page is told a few times a second. */
import { useEffect, useRef, useState } from 'react';
import { LineList } from './lines.ts';
import type { LogNews, ToLogWorker } from './log-worker.ts';

export interface ReadLog extends Omit<LogNews, 'batch'> {
  readonly lines: LineList;
  /** Grows with each change of `lines`, which is one and the same list. */
  readonly version: number;
}

const EMPTY: ReadLog = {
  lines: new LineList(),
  version: 0,
  isOver: false,
  isCut: false,
  missing: [],
  isConnected: false,
};

export function useLog(path: string): ReadLog {
  const [log, setLog] = useState<ReadLog>(EMPTY);
  const tell = useRef<(message: ToLogWorker) => void>(() => undefined);
  useEffect(() => {
    const lines = new LineList();
    let version = 0;
    const worker = new Worker(new URL('./log-worker.ts', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data: { batch, ...news } }: MessageEvent<LogNews>) => {
      lines.push(batch);
      version += 1;
      setLog({ ...news, lines, version });
    });
    setLog(EMPTY);
    tell.current = (message) => worker.postMessage(message);
    tell.current({ path });
    return () => worker.terminate();
  }, [path]);
  useEffect(() => {
    if (log.version > 0) tell.current({ isShown: true });
  }, [log.version]);
  return log;
}
