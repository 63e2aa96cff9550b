/**
 * The part of a handler's context that sends requests to the server. Both kinds of context have it: in the worker, and in a
 * child process.
 */
import type { AttemptRequests } from '@signalbox/sdk/attempt-requests';

export abstract class RequestingContext implements Omit<AttemptRequests, 'slow'> {
  #made: AttemptRequests | null = null;

  /** Called once, when something is first asked for: most handlers ask nothing. */
  protected abstract makeRequests(): AttemptRequests;

  get #requests(): AttemptRequests {
    this.#made ??= this.makeRequests();
    return this.#made;
  }

  get progress(): AttemptRequests['progress'] {
    return this.#requests.progress;
  }
  get extend(): AttemptRequests['extend'] {
    return this.#requests.extend;
  }
  get checkpoint(): AttemptRequests['checkpoint'] {
    return this.#requests.checkpoint;
  }
  get assertOwned(): AttemptRequests['assertOwned'] {
    return this.#requests.assertOwned;
  }
  get addTasks(): AttemptRequests['addTasks'] {
    return this.#requests.addTasks;
  }
  get onSlow(): AttemptRequests['onSlow'] {
    return this.#requests.onSlow;
  }
}
