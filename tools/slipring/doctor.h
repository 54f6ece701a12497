// SPDX-License-Identifier: Apache-2.0
/// `slipring doctor`: its parts.
#ifndef DOCTOR_H
#define DOCTOR_H

/// `slipring doctor --cluster URL`. An exit code.
int doctor_cluster(int argc, char **argv);

#endif
