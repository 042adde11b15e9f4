import type { TableAdvisor } from '../facts.ts'
import { keyOrder } from './key-order.ts'
import { lowCardinality } from './low-cardinality.ts'
import { nullable } from './nullable.ts'
import { rightSize } from './right-size.ts'
import { ttl } from './ttl.ts'

/** All kinds of table advice that need only the facts. */
export const tableAdvisors: readonly TableAdvisor[] = [nullable, lowCardinality, rightSize, keyOrder, ttl]
