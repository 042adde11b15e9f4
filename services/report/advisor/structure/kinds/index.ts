import type { AdvisorKind } from '../facts.ts'
import { keyOrder } from './key-order.ts'
import { lowCardinality } from './low-cardinality.ts'
import { nullable } from './nullable.ts'
import { rightSize } from './right-size.ts'
import { ttl } from './ttl.ts'

/** All kinds of table advice that need only the facts. */
export const kinds: readonly AdvisorKind[] = [nullable, lowCardinality, rightSize, keyOrder, ttl]
