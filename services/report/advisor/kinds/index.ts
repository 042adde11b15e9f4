import type { AdviceKind } from '#proto/advice.ts'
import type { Proposal, AdviceSubject } from '../subject.ts'
import { materializedView } from './materialized-view.ts'
import { partitionKey } from './partition-key.ts'
import { prewhere } from './prewhere.ts'
import { projection } from './projection.ts'
import { skipIndex } from './skip-index.ts'

/** The functions that return the proposals for one table, by kind of advice. */
export const queryAdvisors: Readonly<Record<AdviceKind, (subject: AdviceSubject) => Proposal[]>> = {
  prewhere,
  'skip-index': skipIndex,
  projection,
  'materialized-view': materializedView,
  'partition-key': partitionKey,
}
