import { adviceKinds, type Savings } from '#proto/advice.ts'
import type { Measured } from './measure.ts'
import type { Proposal } from './proposal.ts'

/** A proposal and what is known of its savings. */
export interface Weighed {
  proposal: Proposal
  measured: Measured
}

/** Less than a fifth of the bytes is within what the next merge or insert changes. */
const leastShare = 0.2

/** Those that are worth it, of one purpose the best alone, the best first. Proposals come in the order of their cost. */
export const rank = <W extends Weighed>(weighed: readonly W[]): W[] => {
  const worth = weighed.filter(({ measured: { savings } }) => !savings || shareOf(savings) >= leastShare)
  const sorted = worth.toSorted((a, b) => tenths(b) - tenths(a) || effortOf(a) - effortOf(b) || bytesOf(b) - bytesOf(a))
  return sorted.filter(
    ({ proposal }, index) => sorted.findIndex((other) => other.proposal.purpose === proposal.purpose) === index,
  )
}

/** Of the bytes that are read now. */
const shareOf = ({ bytesBefore, bytesAfter }: Savings): number =>
  bytesBefore > 0 ? (bytesBefore - bytesAfter) / bytesBefore : 0

/** Savings that hardly differ are the same, so that the smaller change comes first. */
const tenths = ({ measured: { savings } }: Weighed): number => (savings ? Math.round(10 * shareOf(savings)) : 0)

const effortOf = ({ proposal }: Weighed): number => adviceKinds.indexOf(proposal.kind)

const bytesOf = ({ measured: { savings } }: Weighed): number => (savings ? savings.bytesBefore - savings.bytesAfter : 0)
