/** How a text qualifies a figure, such as `about 5`, `over 5`, `at least 5` or `almost 5`. */
export type FigureBound = 'exact' | 'about' | 'above' | 'at least' | 'below' | 'at most' | 'almost'

const negations = /\b(?:no(?:body|ne)?|not|never|neither|nothing)\b|n't\b/i
const opposites: Readonly<Partial<Record<FigureBound, FigureBound>>> = {
  above: 'at most',
  'at least': 'below',
  below: 'at least',
  'at most': 'above',
}

/** Returns the bound that the words around a figure state. */
export const findBound = (before: string, after: string): FigureBound => {
  const bound = findWrittenBound(before, after)
  const isNegated = negations.test(before.split(/[.,;:()|]/).at(-1) ?? '')
  return isNegated ? (opposites[bound] ?? bound) : bound
}

const findWrittenBound = (before: string, after: string): FigureBound => {
  if (/(?:about|around|approximately|approx\.?|roughly|circa|ca\.|some|[~≈])\s*$/i.test(before)) return 'about'
  if (/(?:at least|>=|≥|between)\s*$/i.test(before) || /^\+(?!\s*\d)/.test(after)) return 'at least'
  if (
    /(?:(?:more|longer|larger|bigger|higher|greater|slower) than|(?<!\d\S*(?:\s(?!(?:and|but|is|was|has|had|ran)\b)[\p{L}%]+){0,3}\s)over|above|exceed(?:s|ed|ing)?|>)\s*$/iu.test(
      before,
    )
  )
    return 'above'
  if (/(?:at most|(?<!\badds?\s)up to|<=|≤|between\s\S+(?:\s[\p{L}%]+)?\sand)\s*$/iu.test(before)) return 'at most'
  if (/(?:nearly|almost|just under|close to)\s*$/i.test(before)) return 'almost'
  return /(?:(?:less|fewer|smaller|shorter|lower|faster) than|under|below|<)\s*$/i.test(before) ? 'below' : 'exact'
}
