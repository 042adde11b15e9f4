/**
 * Returns one of several names for a key, the same in every process; undefined without names. Adding or removing a name
 * moves only the keys of that name (rendezvous hashing, Thaler and Ravishankar 1998).
 */
export const pickByHash = (key: string, names: readonly string[]): string | undefined => {
  // Fast path: most installations have one instance per service.
  if (names.length <= 1) return names[0]
  let best: string | undefined
  let highest = -1
  for (const name of names) {
    const weight = hash(`${name}/${key}`)
    // The result must not depend on the order of the names.
    if (weight > highest || (weight === highest && best !== undefined && name < best)) [best, highest] = [name, weight]
  }
  return best
}

/**
 * Returns the FNV-1a hash of a text, with the finalizer of MurmurHash3. Without the finalizer, names that differ in
 * their last character would get similar weights.
 */
const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}

/** Returns the names in the order in which keys prefer them; the first one is that of `pickByHash`. */
export const rankByHash = (key: string, names: readonly string[]): string[] =>
  names
    .map((name) => ({ name, weight: hash(`${name}/${key}`) }))
    .toSorted((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name)
