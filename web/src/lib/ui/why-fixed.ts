/** Why nothing can be settled in the product by who looks; null where it can. */
export const whyFixed = (mayWrite: boolean | undefined, lasting: boolean | undefined): string | null => {
  if (mayWrite === false) return 'You may look but not change anything here: sign in with more rights.'
  if (lasting !== false) return null
  return 'What is settled here needs a state database, which this installation lacks: set SVC_STATE_DB_URL. Files and variables apply without one.'
}

/** Where something was settled, in words; a newer service may know more, which are shown as they are. */
const places: Readonly<Record<string, string>> = {
  database: 'settled here',
  file: 'from a file',
  environment: 'from variables',
  default: 'by default',
  rule: "the rule's own",
}

export const settledWhere = (source: string): string => places[source] ?? source
