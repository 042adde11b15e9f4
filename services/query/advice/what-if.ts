/** What became of a hypothetical index. */
export interface WhatIf {
  outcome: 'tried' | 'of-no-use' | 'not-possible'
  /** Marks that it would leave; null unless it was tried. */
  marks: number | null
  /** Tried out on all parts of the table. */
  isEmpirical: boolean
}

/** Reads what `EXPLAIN WHATIF` says of the only index of a session; undefined when it says nothing of one. */
export const readWhatIf = (text: string): WhatIf | undefined => {
  const [, block] = text.split(/^With \w+ \(.*\):$/m)
  if (block === undefined) return undefined
  const said = (name: string): string | undefined => new RegExp(String.raw`^ +${name}: +(.*)$`, 'm').exec(block)?.[1]
  const marks = Number(said('marks'))
  if (said('status') !== 'applicable' || !Number.isInteger(marks)) {
    return { outcome: 'of-no-use', marks: null, isEmpirical: false }
  }
  const [sampled, all] = said('sampled_parts')?.split(' / ') ?? []
  return { outcome: 'tried', marks, isEmpirical: said('source') === 'empirical' && sampled === all }
}
