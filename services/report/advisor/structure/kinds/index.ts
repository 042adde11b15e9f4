import type { Kind } from '../facts.ts'
import { keyOrder } from './key-order.ts'
import { lowCardinality } from './low-cardinality.ts'
import { nullable } from './nullable.ts'
import { rightSize } from './right-size.ts'
import { ttl } from './ttl.ts'

/** Every kind of advice on a table that needs nothing but its facts. */
export const kinds: readonly Kind[] = [nullable, lowCardinality, rightSize, keyOrder, ttl]
