import { Dialog } from '../parts/dialog.tsx';
import { useNav } from './nav.ts';

const KEYS: readonly (readonly [string, string])[] = [
  ['Ctrl K', 'Go to a page, DAG or run'],
  ['/', 'Search in the page'],
  ['?', 'This help'],
  ['Esc', 'Close a dialog, leave a search'],
  ['↑ ↓ ← →', 'Move in the grid and in lists; in the graph, pan'],
  ['+ −', 'Zoom the graph'],
  ['0', 'Fit the graph to the page'],
  ['Enter', 'Open what is selected'],
];

export function Help({ onClose }: { readonly onClose: () => void }) {
  const nav = useNav();
  return (
    <Dialog title="Keys" onClose={onClose} wide>
      <div className="two-columns">
        <dl className="pairs">
          {KEYS.map(([key, what]) => (
            <div key={key} className="contents">
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <dl className="pairs">
          {nav.map(({ key, label }) => (
            <div key={key} className="contents">
              <dt>
                <kbd>g</kbd> <kbd>{key}</kbd>
              </dt>
              <dd>{label}</dd>
            </div>
          ))}
        </dl>
      </div>
    </Dialog>
  );
}
