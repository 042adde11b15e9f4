import { expect, it } from 'vitest'
import { computeSavedShare } from './savings.ts'

it.each([
  [{ marksBefore: 100, marksAfter: 10, bytesBefore: 1_000, bytesAfter: 250 }, 0.75],
  [{ marksBefore: 100, marksAfter: 10, bytesBefore: 0, bytesAfter: 0 }, 0.9],
  [{ marksBefore: 0, marksAfter: 0, bytesBefore: 0, bytesAfter: 0 }, null],
  [{ marksBefore: 1, marksAfter: 2, bytesBefore: 10, bytesAfter: 20 }, 0],
])('%j saves %s', (savings, share) => expect(computeSavedShare(savings)).toBe(share))
