import type { AnyDetector } from '../detection/detector.ts'
import { clockSkewDetector } from './clock-skew.ts'
import { compressionDetector } from './compression.ts'
import { detachedPartsDetector } from './detached-parts.ts'
import { diskFullDetector } from './disk-full.ts'
import { errorRateDetector } from './error-rate.ts'
import { failedDictionaryDetector } from './failed-dictionary.ts'
import { fragmentationDetector } from './fragmentation.ts'
import { insertStoppedDetector } from './insert-stopped.ts'
import { longQueryDetector } from './long-query.ts'
import { mirrorCopyingDetector } from './mirror-copying.ts'
import { mirrorErrorsDetector } from './mirror-errors.ts'
import { mirrorStoppedDetector } from './mirror-stopped.ts'
import { newErrorCodeDetector } from './new-error-code.ts'
import { newPatternDetector } from './new-pattern.ts'
import { p95DurationDetector } from './p95-duration.ts'
import { tooManyPartsDetector } from './parts-refused.ts'
import { patternRegressionDetector } from './pattern-regression.ts'
import { patternSkewDetector } from './pattern-skew.ts'
import { peakMemoryDetector } from './peak-memory.ts'
import { readonlyReplicaDetector } from './readonly-replica.ts'
import { replicaLagDetector } from './replica-lag.ts'
import { settingsDriftDetector } from './settings-drift.ts'
import { slotGrowthDetector } from './slot-growth.ts'
import { slotLagDetector } from './slot-lag.ts'
import { stuckMutationDetector } from './stuck-mutation.ts'
import { ttlHealthDetector } from './ttl-health.ts'
import { versionDriftDetector } from './version-drift.ts'

/** All detectors. */
export const detectors: readonly AnyDetector[] = [
  errorRateDetector,
  p95DurationDetector,
  peakMemoryDetector,
  newErrorCodeDetector,
  newPatternDetector,
  patternRegressionDetector,
  insertStoppedDetector,
  fragmentationDetector,
  compressionDetector,
  ttlHealthDetector,
  readonlyReplicaDetector,
  replicaLagDetector,
  detachedPartsDetector,
  stuckMutationDetector,
  longQueryDetector,
  failedDictionaryDetector,
  tooManyPartsDetector,
  diskFullDetector,
  patternSkewDetector,
  versionDriftDetector,
  settingsDriftDetector,
  clockSkewDetector,
  mirrorStoppedDetector,
  mirrorErrorsDetector,
  mirrorCopyingDetector,
  slotLagDetector,
  slotGrowthDetector,
]

/** The detectors that compare current values with a baseline. */
export const anomalyDetectors: readonly AnyDetector[] = [
  errorRateDetector,
  p95DurationDetector,
  peakMemoryDetector,
  newErrorCodeDetector,
  newPatternDetector,
  patternRegressionDetector,
  insertStoppedDetector,
  patternSkewDetector,
]
