import type { TableAdvisor } from '../facts.ts'
import { keyOrder } from './key-order.ts'
import { lowCardinality } from './low-cardinality.ts'
import { nullable } from './nullable.ts'
import { rightSize } from './right-size.ts'
import { ttl } from './ttl.ts'

/** The functions for table advice that need only the facts about the table. */
export const tableAdvisors: readonly TableAdvisor[] = [nullable, lowCardinality, rightSize, keyOrder, ttl]
