// Coefficients of minimax polynomials, the highest first; made by coefficients.sollya.
#pragma once

template <class T> struct Coefficients;

template <> struct Coefficients<float> {
    static constexpr float SIN[] = {0x1.85635cp-19, -0x1.a07ce2p-13, 0x1.111194p-7, -0x1.555556p-3};
    static constexpr float COS[] = {-0x1.54ce1p-22, 0x1.a0e95cp-16, -0x1.6c17ccp-10, 0x1.555556p-5};
    static constexpr float SINPI[] = {0x1.3f2052p-4, -0x1.329e28p-1, 0x1.466b62p1, -0x1.4abbcep2};
    static constexpr float COSPI[] = {0x1.de92f2p-3, 0x1.9682d8p-3, -0x1.55616ap0, 0x1.03c17p2, -0x1.3bd3ccp2};
    static constexpr float EXP[] = {0x1.9df964p-13, 0x1.6d446cp-10, 0x1.11131cp-7, 0x1.5554f4p-5, 0x1.555554p-3, 0x1p-1};
    static constexpr float LOG[] = {-0x1.4b06ap-4, 0x1.0594f8p-3, -0x1.0a514cp-3, 0x1.22c2e4p-3, -0x1.54c69ep-3, 0x1.99a1b2p-3, -0x1.0000e8p-2, 0x1.555552p-2};
    static constexpr float QUOTIENT[] = {0x1.d85474p-3, 0x1.247964p-2, 0x1.9999a4p-2};
    static constexpr float ASIN[] = {0x1.1a3058p-5, 0x1.10a158p-6, 0x1.ff9638p-6, 0x1.6d4028p-5, 0x1.3334c8p-4, 0x1.555554p-3};
    static constexpr float ATAN[] = {-0x1.3b6c6ap-9, 0x1.bd14p-7, -0x1.26cceep-5, 0x1.005ebp-4, -0x1.62baf8p-4, 0x1.c3f7fep-4, -0x1.246ce4p-3, 0x1.999832p-3, -0x1.555554p-2};
    static constexpr float ERF[] = {-0x1.ed0c66p-18, 0x1.b8d124p-14, -0x1.b7d8fcp-11, 0x1.55cb3ep-8, -0x1.b822eap-6, 0x1.ce2ed4p-4, -0x1.812746p-2};
    static constexpr float SINH[] = {0x1.720e84p-19, 0x1.a036dap-13, 0x1.1110c4p-7, 0x1.555556p-3};
    static constexpr float TANH[] = {0x1.799f9p-9, -0x1.211e6p-7, 0x1.66f4e8p-6, -0x1.ba2d94p-5, 0x1.11115ep-3, -0x1.555556p-2};
};

template <> struct Coefficients<double> {
    static constexpr double SIN[] = {-0x1.91ca9e0e715f3p-41, 0x1.60ed6fd743b54p-33, -0x1.ae6401a7e0af2p-26, 0x1.71de3a15b9e94p-19, -0x1.a01a019feb40cp-13, 0x1.1111111111025p-7, -0x1.5555555555555p-3};
    static constexpr double COS[] = {0x1.4637468bfe7d2p-45, -0x1.92c45d9c71119p-37, 0x1.1eece8fa21e64p-29, -0x1.27e4faf9b06afp-22, 0x1.a01a019fbd1ccp-16, -0x1.6c16c16c16a4p-10, 0x1.5555555555555p-5};
    static constexpr double SINPI[] = {-0x1.7fb5568fa467ep-16, 0x1.e92e56c36219fp-12, -0x1.e3079b8e078b6p-8, 0x1.507834b67dd8ep-4, -0x1.32d2cce64787bp-1, 0x1.466bc6775abc3p1, -0x1.4abbce625be53p2};
    static constexpr double COSPI[] = {-0x1.519abcb2fb2cap-14, -0x1.62b970d51bd6dp-14, 0x1.f954061fd9f1ep-10, -0x1.a6d19032619ebp-6, 0x1.e1f50637acfe2p-3, -0x1.55d3c7e3a9649p0, 0x1.03c1f081b59f4p2, -0x1.3bd3cc9be45dep2};
    static constexpr double EXP[] = {0x1.1f3f6080d889dp-29, 0x1.af629f0603be2p-26, 0x1.27e4fd604b7d3p-22, 0x1.71ddf7893aae1p-19, 0x1.a01a01977eea2p-16, 0x1.a01a01af908cap-13, 0x1.6c16c16c18e5ep-10, 0x1.111111110f953p-7, 0x1.5555555555551p-5, 0x1.5555555555558p-3, 0x1p-1};
    static constexpr double LOG[] = {0x1.9b8ec1fe84b89p-6, -0x1.d11dd6d48793ep-5, 0x1.eb2a47d875de8p-5, -0x1.9e86962c6dbc2p-5, 0x1.9b67809827945p-5, -0x1.c32758e6f874dp-5, 0x1.e3d26506fa428p-5, -0x1.004853d3b28e2p-4, 0x1.11033c1f9383ep-4, -0x1.248d17eb575cbp-4, 0x1.3b1424a9f103p-4, -0x1.55558be478094p-4, 0x1.745d150e2e8ebp-4, -0x1.9999984f7af16p-4, 0x1.c71c71ce0f5ebp-4, -0x1.000000021abacp-3, 0x1.2492492489707p-3, -0x1.5555555552335p-3, 0x1.9999999999aa5p-3, -0x1.000000000000bp-2, 0x1.5555555555555p-2};
    static constexpr double QUOTIENT[] = {0x1.dc2717fd05f42p-4, 0x1.dff4c94a8577dp-4, 0x1.1115fe510b6eep-3, 0x1.3b13a6ac64c77p-3, 0x1.745d17441c1cfp-3, 0x1.c71c71c744e04p-3, 0x1.2492492492313p-2, 0x1.999999999999ap-2};
    static constexpr double ASIN[] = {0x1.fff05c8e10e82p-6, -0x1.682b218be9431p-6, 0x1.61d9353610e4dp-6, 0x1.1a5133b17fd6ap-9, 0x1.39a69383ff10bp-7, 0x1.39b1fbe89213cp-7, 0x1.7b3908b1f205cp-7, 0x1.c98b9d370be4cp-7, 0x1.1c4f25ff8ceep-6, 0x1.6e8b9f6a9a653p-6, 0x1.f1c71c85d8de2p-6, 0x1.6db6db6d9672ep-5, 0x1.33333333334b7p-4, 0x1.5555555555555p-3};
    static constexpr double ATAN[] = {-0x1.8a1ab3b1a9121p-17, 0x1.1d0b7a253c934p-13, -0x1.87a8b83055e3bp-11, 0x1.55d5dd573dcb5p-9, -0x1.acd7a7fd84d84p-8, 0x1.a05a4311a2574p-7, -0x1.4a9f5a6ce88c1p-6, 0x1.c2cad4ab896f7p-6, -0x1.142b2ce7d0c7cp-5, 0x1.3d12a94e19528p-5, -0x1.60d8685ca5a31p-5, 0x1.8543df3e5e38ep-5, -0x1.aefeffa2a0a41p-5, 0x1.e1dbb410a5ddp-5, -0x1.1110b93cf782bp-4, 0x1.3b13aa3c5fbeep-4, -0x1.745d16e4bbaddp-4, 0x1.c71c71c3cae8bp-4, -0x1.249249248a2dfp-3, 0x1.999999999987dp-3, -0x1.5555555555555p-2};
    static constexpr double ERF[] = {0x1.0511555b04847p-35, -0x1.c44399e0dfa76p-33, 0x1.7e13926f94735p-31, -0x1.3aefa41f2be1cp-29, 0x1.135c4961307bap-26, -0x1.6181c54fa8d9dp-23, 0x1.ba0a887c3b1dbp-20, -0x1.f4d40d03bb71bp-17, 0x1.f9a334fe31ccap-14, -0x1.c02db44d3c802p-11, 0x1.565bcd0f7260ep-8, -0x1.b82ce3128cb32p-6, 0x1.ce2f21a042c55p-4, -0x1.812746b0379e7p-2};
    static constexpr double SINH[] = {-0x1.47ad8759052f5p-45, 0x1.620daad064a16p-43, 0x1.169fb10ff3f85p-41, 0x1.61b1223cac178p-33, 0x1.ae63c1f41f435p-26, 0x1.71de3aae51dd9p-19, 0x1.a01a019fe19b4p-13, 0x1.1111111111212p-7, 0x1.5555555555555p-3};
    static constexpr double TANH[] = {0x1.1ca9a5571f33bp-16, -0x1.9b3dd64ca217ep-16, -0x1.b42de52665fb5p-18, 0x1.550276429e0fap-14, -0x1.eb740b220756ep-13, 0x1.34d431ccf34e7p-11, -0x1.7d9a32630f70ep-10, 0x1.d6d3627a6eabfp-9, -0x1.226e33acf10bfp-7, 0x1.664f487a8666cp-6, -0x1.ba1ba1ba05356p-5, 0x1.111111111102ep-3, -0x1.5555555555555p-2};
};
