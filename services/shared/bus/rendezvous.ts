/**
 * Picks one of several names for a key so that everybody picks the same one, and a name that comes or goes moves only
 * the keys that are its own (rendezvous or highest-random-weight hashing, Thaler and Ravishankar 1998).
 */
export const pick = (key: string, names: readonly string[]): string | undefined => {
  // Most installations have one, which needs no weighing.
  if (names.length <= 1) return names[0]
  let best: string | undefined
  let highest = -1
  for (const name of names) {
    const weight = hash(`${name}/${key}`)
    // The order in which names were heard of must not matter.
    if (weight > highest || (weight === highest && best !== undefined && name < best)) [best, highest] = [name, weight]
  }
  return best
}

/** FNV-1a with the finish of MurmurHash3, without which names that differ in their last letter weigh alike. */
const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}
