/**
 * Forgets what a map has had longest, beyond so many entries; to be called after each that is added. It goes on where it stood:
 * whoever begins anew at the first key passes the places of the thousands that were removed.
 */
export const forgetOldest = <K>(entries: Map<K, unknown>, most: number): (() => void) => {
  const keys = entries.keys()
  return () => {
    if (entries.size <= most) return
    const { done, value } = keys.next()
    if (!done) entries.delete(value)
  }
}
