import type { TableAdvisor } from '../table-facts.ts'
import { adviseOnKeyOrder } from './key-order.ts'
import { adviseOnLowCardinality } from './low-cardinality.ts'
import { adviseOnNullable } from './nullable.ts'
import { adviseOnIntegerSize } from './right-size.ts'
import { adviseOnTtl } from './ttl.ts'

/** The functions for table advice that need only the facts about the table. */
export const tableAdvisors: readonly TableAdvisor[] = [
  adviseOnNullable,
  adviseOnLowCardinality,
  adviseOnIntegerSize,
  adviseOnKeyOrder,
  adviseOnTtl,
]
