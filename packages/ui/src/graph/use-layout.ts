import { useEffect, useState } from 'react';
import { type Layout, layOut } from './layout.ts';

/** Below it the page does the work itself in less than a frame. */
const SMALL = 400;

/** Null until the layout is done. */
export function useLayout(nodeCount: number, edges: readonly number[]): Layout | null {
  const [layout, setLayout] = useState<Layout | null>(null);
  useEffect(() => {
    if (nodeCount <= SMALL) {
      setLayout(layOut(nodeCount, edges));
      return;
    }
    const worker = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<Layout>) => setLayout(data));
    worker.postMessage({ nodeCount, edges });
    return () => worker.terminate();
  }, [nodeCount, edges]);
  return layout;
}
