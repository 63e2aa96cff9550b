/** Ctrl-C while a run is followed: following ends, the run continues. */
export function onInterrupt(onTold: () => void = () => {}): AbortController {
  const controller = new AbortController();
  const stop = () => {
    if (controller.signal.aborted) process.exit(130);
    onTold();
    controller.abort();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return controller;
}
