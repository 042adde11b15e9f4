/** What became of a hypothetical index. */
export interface WhatIf {
  outcome: 'tried' | 'of-no-use' | 'not-possible'
  /** Marks that it would leave; null unless it was tried. */
  marks: number | null
  /** Tried out on all that is read now. */
  isEmpirical: boolean
}

/** Reads what `EXPLAIN WHATIF` says of the only index of a session; undefined when it says nothing of one. */
export const readWhatIf = (text: string): WhatIf | undefined => {
  const [baseline = '', block] = text.split(/^With \w+ \(.*\):$/m)
  if (block === undefined) return undefined
  const marks = Number(said(block, 'marks'))
  if (said(block, 'status') !== 'applicable' || !Number.isInteger(marks)) {
    return { outcome: 'of-no-use', marks: null, isEmpirical: false }
  }
  // Of all marks of the table: `978 / 980`.
  const [sampled] = said(block, 'sampled_marks')?.split(' / ') ?? []
  const isEmpirical = said(block, 'source') === 'empirical' && sampled === said(baseline, 'marks')
  return { outcome: 'tried', marks, isEmpirical }
}

const said = (block: string, name: string): string | undefined =>
  new RegExp(String.raw`^ +${name}: +(.*)$`, 'm').exec(block)?.[1]
