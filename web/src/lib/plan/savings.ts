import type { VerificationLevel, Savings } from '#proto/advice.ts'

/** Label and explanation of each proof level. The level states how the savings were determined. */
export const proofLabels: Record<VerificationLevel, { word: string; means: string }> = {
  verified: { word: 'Verified', means: 'Measured by a test on data of the host.' },
  estimated: { word: 'Estimated', means: 'Computed from host statistics.' },
  unverified: { word: 'Unverified', means: 'Typical effect of this change. Not computed for this table.' },
}

/** Returns the share of reads that would be saved, from 0 to 1; null when nothing is read. */
export const computeSavedShare = ({ marksBefore, marksAfter, bytesBefore, bytesAfter }: Savings): number | null => {
  if (bytesBefore > 0) return Math.max(0, 1 - bytesAfter / bytesBefore)
  return marksBefore > 0 ? Math.max(0, 1 - marksAfter / marksBefore) : null
}
