/** Ctrl-C while something is being followed: the following ends, what is followed goes on. */
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
