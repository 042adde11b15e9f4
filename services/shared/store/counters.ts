/** How often something happened within a window of time; one count for all processes on one Redis, else one for each process. */
export interface Counters extends AsyncDisposable {
  /**
   * Counts `what` happened to `key` once more, at once where no server has to be asked. The window of whole seconds begins with
   * the first count and is equally long for all keys. Of a window that lets many through, which `allowed` says, a process may
   * take some counts in advance: none is told twice, and what it does not need is lost. Does not fail for the server behind.
   */
  count(what: string, key: string, seconds: number, allowed?: number): Counted | Promise<Counted>
}

/** The count of a window, this time included, and in how many milliseconds the window ends. */
export interface Counted {
  count: number
  endsInMs: number
}
