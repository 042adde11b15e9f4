import type { AdviceKind } from '#proto/advice.ts'
import type { Proposal, AdviceSubject } from '../advice-subject.ts'
import { proposeMaterializedViews } from './materialized-view.ts'
import { proposePartitionKeys } from './partition-key.ts'
import { proposePrewhere } from './prewhere.ts'
import { proposeProjections } from './projection.ts'
import { proposeSkipIndexes } from './skip-index.ts'

/** The functions that return the proposals for one table, by kind of advice. */
export const queryAdvisors: Readonly<Record<AdviceKind, (subject: AdviceSubject) => Proposal[]>> = {
  prewhere: proposePrewhere,
  'skip-index': proposeSkipIndexes,
  projection: proposeProjections,
  'materialized-view': proposeMaterializedViews,
  'partition-key': proposePartitionKeys,
}
