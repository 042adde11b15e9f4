import { hash, timingSafeEqual } from 'node:crypto'

/** Compares a secret with what a caller gave, in a time that tells nothing of either, not even their lengths. */
export const isSameText = (given: string, secret: string): boolean => timingSafeEqual(digestOf(given), digestOf(secret))

const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer')
