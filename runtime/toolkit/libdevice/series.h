// Coefficients of polynomials and series, the highest first; made by series.py.
#pragma once

template <class T> struct Series;

template <> struct Series<float> {
    static constexpr float ERFCX[] = {-0x1.c099cc0000000p-14, -0x1.0be0f80000000p-11, 0x1.3bf5460000000p-8, -0x1.0bfdd00000000p-6, 0x1.31b2f40000000p-5, -0x1.0f7e320000000p-4, 0x1.7fbed20000000p-4, -0x1.9de21a0000000p-4, 0x1.16f2b20000000p-4, 0x1.f7f8d60000000p-7, -0x1.1df1c60000000p-3, 0x1.3ba5920000000p+0};
    static constexpr float LOGGAMMA[] = {-0x1.06bbbc0000000p-12, 0x1.2af9d40000000p-11, -0x1.374ac20000000p-10, 0x1.7956ce0000000p-9, -0x1.e40b300000000p-8, 0x1.5135980000000p-6, -0x1.13e0000000000p-4, 0x1.4a34cc0000000p-2, 0x1.b0ee600000000p-2};
    static constexpr float RECIPROCAL_GAMMA[] = {-0x1.1f50980000000p-10, 0x1.afb9480000000p-8, -0x1.1f84140000000p-7, -0x1.5e4ae40000000p-5, 0x1.557eda0000000p-3, -0x1.586d7c0000000p-5, -0x1.4fceb40000000p-1, 0x1.2788ca0000000p-1, 0x1.0000000000000p+0};
    static constexpr float STIRLING[] = {0x1.a01a020000000p-11, -0x1.6c16c20000000p-9, 0x1.5555560000000p-4};
};

template <> struct Series<double> {
    static constexpr double ERFCX[] = {0x1.83fe5c0fef094p-34, -0x1.cb86759900043p-33, -0x1.9a60cd2e3d4d7p-31, 0x1.24c58bbe79b50p-29, 0x1.2c842fb4d0966p-28, -0x1.092109478e33ap-26, -0x1.8065ada3a1facp-26, 0x1.dcbfedaf54db2p-24, 0x1.5482cad49205bp-24, -0x1.bb4532728f6cdp-21, 0x1.382a8ab551951p-22, 0x1.7f2a5fbf715e8p-18, -0x1.7880fdff5d5d7p-17, -0x1.99595392cee42p-16, 0x1.3be030bf2130bp-13, -0x1.a1df255483e97p-13, -0x1.8d4a997ae5480p-11, 0x1.49c672863e565p-8, -0x1.096238855a806p-6, 0x1.3079edf68241ep-5, -0x1.0fb06dfe48706p-4, 0x1.7fee004e12573p-4, -0x1.9ddb23c3e9121p-4, 0x1.16ecefcfa5394p-4, 0x1.f7f5df66fd7c0p-7, -0x1.1df1ad154a28ep-3, 0x1.3ba5916e9fd7fp+0};
    static constexpr double LOGGAMMA[] = {0x1.11fa5e7c86f7bp-24, -0x1.2009c1a550d0dp-23, 0x1.b40adb09a1e12p-23, -0x1.ce17528bcf460p-22, 0x1.012012be3900ap-20, -0x1.1276ebd557fb0p-19, 0x1.258f3057730fap-18, -0x1.3cb3be36ad88bp-17, 0x1.580e0afa55850p-16, -0x1.78de9ab752b81p-15, 0x1.a127afee53e7dp-14, -0x1.d3fd4b679c1c4p-13, 0x1.0b36af8779ca0p-11, -0x1.38ac5c2d48207p-10, 0x1.7add6eadb5317p-9, -0x1.e404fc218dbaep-8, 0x1.51322ac7d848ap-6, -0x1.13e001a55760ap-4, 0x1.4a34cc4a60fa6p-2, 0x1.b0ee6072093cep-2};
    static constexpr double RECIPROCAL_GAMMA[] = {-0x1.307e8f798d979p-32, 0x1.9e157868798cbp-30, 0x1.f1412faba3baep-27, -0x1.d716f1129061bp-23, 0x1.34884cdc5f83bp-20, -0x1.5390fdd10be34p-20, -0x1.51a4d3729ec8bp-16, 0x1.0c87d001d5710p-13, -0x1.c363f698363e3p-13, -0x1.31711c710fdd1p-10, 0x1.d919c5adc33d8p-8, -0x1.3b4af28f0988cp-7, -0x1.59af103be9f9cp-5, 0x1.5512320b42a29p-3, -0x1.5815e8fa26c74p-5, -0x1.4fcf4026afa2fp-1, 0x1.2788cfc6fb619p-1, 0x1.0000000000000p+0};
    static constexpr double STIRLING[] = {0x1.6fe96381e0680p-3, -0x1.e4286cb0f5398p-6, 0x1.a41a41a41a41ap-8, -0x1.f6ab0d9993c7dp-10, 0x1.b951e2b18ff23p-11, -0x1.3813813813814p-11, 0x1.a01a01a01a01ap-11, -0x1.6c16c16c16c17p-9, 0x1.5555555555555p-4};
};
