import type { AdviceKind } from '#proto/advice.ts'
import type { Proposal, AdviceSubject } from '../subject.ts'
import { materializedView } from './materialized-view.ts'
import { partitionKey } from './partition-key.ts'
import { prewhere } from './prewhere.ts'
import { projection } from './projection.ts'
import { skipIndex } from './skip-index.ts'

/** The kinds of query advice, each a function that returns the proposals for one table. */
export const queryAdvisors: Readonly<Record<AdviceKind, (subject: AdviceSubject) => Proposal[]>> = {
  prewhere,
  'skip-index': skipIndex,
  projection,
  'materialized-view': materializedView,
  'partition-key': partitionKey,
}
