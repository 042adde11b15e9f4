/** How long a change is told. */
const toldMs = 3_600_000

interface Known {
  /** Null before the first sweep. */
  value: string | null
  changedMs: number | null
}

/** Whether a value changed within the last hour; `now` is what is to be known of it from here on, none when that is so already. */
export const changeOf = (known: Known, value: string, nowMs: number): { isRecent: boolean; now: Known | undefined } => {
  const isChanged = known.value !== null && known.value !== value
  const changedMs = isChanged ? nowMs : known.changedMs
  return {
    isRecent: changedMs !== null && nowMs - changedMs < toldMs,
    now: known.value === value ? undefined : { value, changedMs },
  }
}
